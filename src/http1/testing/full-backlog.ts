import { dlopen, ptr } from 'bun:ffi'

/**
 * A port on loopback to which no connection can be opened: its queue of unaccepted connections is full, so that the
 * kernel drops each SYN.
 */
export type FullBacklog = { readonly port: number; close(): void }

const AF_INET = 2
const SOCK_STREAM = 1
const ADDRESS_BYTES = 16

/** Only Linux drops the SYN. */
export const canFillBacklog = process.platform === 'linux'

/** The runtime's own listeners accept every connection, so this one is made with the C library. */
export async function startFullBacklog(): Promise<FullBacklog> {
  const { symbols: libc } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    bind: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    listen: { args: ['i32', 'i32'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    close: { args: ['i32'], returns: 'i32' },
  })
  const address = new Uint8Array(ADDRESS_BYTES)
  address.set([AF_INET, 0, 0, 0, 127, 0, 0, 1])
  const listener = libc.socket(AF_INET, SOCK_STREAM, 0)
  const results = [libc.bind(listener, ptr(address), ADDRESS_BYTES), libc.listen(listener, 0)]
  results.push(libc.getsockname(listener, ptr(address), ptr(new Uint32Array([ADDRESS_BYTES]))))
  if (listener < 0 || results.some(result => result !== 0)) throw new Error('The listener cannot be opened.')
  const port = new DataView(address.buffer).getUint16(2)
  // A backlog of 0 has room for one connection.
  const only = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  return {
    port,
    close() {
      only.terminate()
      libc.close(listener)
    },
  }
}
