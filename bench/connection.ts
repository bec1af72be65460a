import type { Peer } from './peers/peer.ts'
import type { RequestKind } from './workloads/workload.ts'

/**
 * One keep-alive connection that repeats a request, each time with another number. It writes prepared bytes to a raw
 * socket, because `fetch` costs as much as the relay that is measured.
 */
export type Connection = {
  /** Sends the next request. The previous one must have been answered. */
  send(): void
  /** When the in-flight request was sent, by `Bun.nanoseconds()`. */
  sentAtNs(): number
  /** Stops reading, so that the peer's socket fills up. */
  stall(): void
  close(): void
}

export type ConnectionEvents = {
  /** Gets the received bytes. */
  readonly received: (connection: Connection, bytes: Buffer) => void
  /** The peer closed the connection, or `received` threw. */
  readonly broke: (reason: Error) => void
}

const NUMBER_DIGITS = 12
/**
 * The number of the latest request of this process. Every request has another one, so none is answered from a cache.
 */
let requestNumber = 0

/** Opens a connection to `peer` for requests of one kind. Throws if it is refused. */
export async function connect(
  peer: Peer,
  kind: RequestKind,
  { received, broke }: ConnectionEvents,
): Promise<Connection> {
  const { bytes, numberEnd } = requestBytes(peer, kind)
  let bytesSent = bytes.length
  let sentAtNs = 0

  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: peer.port,
    socket: {
      data: (_, bytes) => received(connection, bytes),
      drain: sendRest,
      close: () => broke(new Error(`${peer.name} closed the connection.`)),
      error: (_, error) => broke(error),
    },
  })
  socket.setNoDelay(true)

  /** Writes the bytes that the socket has not taken. Called again when the socket drains. */
  function sendRest(): void {
    if (bytesSent < bytes.length)
      bytesSent += socket.write(bytesSent === 0 ? bytes : bytes.subarray(bytesSent))
  }

  const connection: Connection = {
    send() {
      requestNumber += 1
      writeNumber(bytes, numberEnd, requestNumber)
      bytesSent = 0
      sentAtNs = Bun.nanoseconds()
      sendRest()
    },
    sentAtNs: () => sentAtNs,
    stall: () => socket.pause(),
    close: () => socket.end(),
  }
  return connection
}

function requestBytes(
  { port, headers }: Peer,
  { path, body }: RequestKind,
): { readonly bytes: Buffer; readonly numberEnd: number } {
  const content = body.before + '0'.repeat(NUMBER_DIGITS) + body.after
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'accept: application/json',
    'user-agent: tollgate-bench',
    `content-length: ${Buffer.byteLength(content)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${content}`)
  return { bytes, numberEnd: bytes.length - Buffer.byteLength(body.after) }
}

function writeNumber(bytes: Buffer, end: number, number: number): void {
  let rest = number
  for (let at = end - 1; at >= end - NUMBER_DIGITS; at -= 1) {
    bytes[at] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}
