import type { Peer } from './peers/peer.ts'
import type { RequestKind } from './workloads/workload.ts'

/**
 * One kept-alive connection that sends the same request over and over, each time with another number in it. It writes
 * prepared bytes to a bare socket, because a `fetch` costs as much as the relay that is measured.
 */
export type Connection = {
  /** Sends the next request. The one before must have been answered. */
  send(): void
  /** When the request that is on its way was begun, by `Bun.nanoseconds()`. */
  sentAtNs(): number
  /** Reads nothing more, so that the peer's socket fills up. */
  stall(): void
  close(): void
}

export type ConnectionEvents = {
  /** What came, as it came. */
  readonly received: (connection: Connection, bytes: Buffer) => void
  /** The peer hung up, or `received` threw. */
  readonly broke: (reason: Error) => void
}

const NUMBER_DIGITS = 12
/** Of the latest request of this process: no two are ever the same, so none is answered from a cache. */
let requestNumber = 0

/** Opens a connection to `peer` for requests of one kind. Throws when it is refused. */
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
      close: () => broke(new Error(`${peer.name} hung up.`)),
      error: (_, error) => broke(error),
    },
  })
  socket.setNoDelay(true)

  /** What the socket does not take at once follows when it has drained. */
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
