import { connect, type Socket } from 'node:net'
import type { Peer } from '../peers/peer.ts'

/** A request whose bytes are written as they are. */
export type RawRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The API key, if it is not the peer's own. */
  readonly key?: string
  readonly bodyBytes?: number
}

/** A connection to a peer, when the head of its request was sent. */
export async function openRaw(peer: Peer, { method, path, key, bodyBytes }: RawRequest): Promise<Socket> {
  const socket = connect(peer.port, '127.0.0.1')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('connect', resolve).once('error', reject)
  await promise
  // Later errors are seen as the end of the connection.
  socket.on('error', () => undefined)
  const headers = key === undefined ? peer.headers : { authorization: `Bearer ${key}` }
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${peer.port}`,
    'connection: close',
    ...(bodyBytes === undefined ? [] : ['content-type: application/json', `content-length: ${bodyBytes}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}

/** Writes all pieces, as fast as the peer takes them. Stops when the peer has closed the connection. */
export async function writeAll(socket: Socket, pieces: Iterable<Uint8Array | string>): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (socket.write(piece)) continue
    await new Promise<void>(resolve => {
      const done = () => {
        socket.off('drain', done).off('close', done)
        resolve()
      }
      socket.on('drain', done).on('close', done)
    })
  }
}

/** Everything that arrives until the peer closes the connection. */
export async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', bytes => (text += bytes.toString('latin1')))
  await new Promise(resolve => {
    socket.once('close', resolve)
  })
  return text
}

/** The length of a body in pieces. */
export function lengthOf(pieces: readonly (Uint8Array | string)[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}
