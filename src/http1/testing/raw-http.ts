import { connect } from 'node:net'

/** A connection to which a test writes raw bytes. */
export type RawConnection = {
  /** Resolves when the kernel has accepted the bytes. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Everything that has arrived. */
  readonly received: string
  /** Everything that has arrived, once it ends with a complete response or the server has closed the connection. */
  response(): Promise<string>
  /** All received bytes, when the server closes the connection. */
  readonly closed: Promise<string>
  /** Breaks the connection. */
  leave(): void
}

/** Opens a connection to the server at `url`. */
export function rawConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const closed = Promise.withResolvers<string>()
  let received = ''
  let arrived = Promise.withResolvers<void>()
  socket.setEncoding('latin1')
  socket.on('data', text => {
    received += String(text)
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  socket.on('error', () => undefined)
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    closed.resolve(received)
    arrived.resolve()
  })
  return {
    get received() {
      return received
    },
    write: bytes =>
      new Promise(resolve => {
        socket.write(bytes, () => resolve())
      }),
    async response() {
      while (!isWhole(received) && !socket.destroyed) await arrived.promise
      return received
    },
    closed: closed.promise,
    leave: () => void socket.destroy(),
  }
}

/** Sends one text and resolves with the response. */
export async function rawRequest(url: string, text: string | Uint8Array): Promise<string> {
  const connection = rawConnection(url)
  void connection.write(text)
  const response = await connection.response()
  connection.leave()
  return response
}

/** Whether a response with a length is complete. Responses without a length end with their connection. */
function isWhole(text: string): boolean {
  const response = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
  const headEnd = response.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(response.slice(0, headEnd))?.[1]
  return headEnd >= 0 && length !== undefined && response.length >= headEnd + 4 + Number(length)
}
