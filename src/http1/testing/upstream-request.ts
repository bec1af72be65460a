/** A request as it was received. */
export type RecordedRequest = {
  readonly method: string
  /** Includes the query string. */
  readonly path: string
  /** By lower-case name. For a repeated header, the last one; `head` has all of them. */
  readonly headers: Readonly<Record<string, string>>
  /** The request line and header lines as received, without the blank line. */
  readonly head: string
  readonly body: Uint8Array<ArrayBuffer>
  /** The number of the upstream's connection, from 1. Equal numbers mean a reused connection. */
  readonly connection: number
  text(): string
  json(): unknown
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const HEAD_END = encoder.encode('\r\n\r\n')

/**
 * Splits the bytes of one connection into requests. Bodies need a `content-length`, which the gateway always sends. Any
 * other framing throws, so that a test never records a wrong request.
 */
export function requestReader(connection: number): (bytes: Uint8Array) => RecordedRequest[] {
  let waiting = Buffer.alloc(0)

  return bytes => {
    waiting = Buffer.concat([waiting, bytes])
    const requests: RecordedRequest[] = []
    for (;;) {
      const headEnd = waiting.indexOf(HEAD_END)
      if (headEnd < 0) return requests
      const head = waiting.toString('latin1', 0, headEnd)
      const bodyStart = headEnd + HEAD_END.length
      const bodyEnd = bodyStart + bodyLength(head)
      if (waiting.length < bodyEnd) return requests
      requests.push(recorded(head, new Uint8Array(waiting.subarray(bodyStart, bodyEnd)), connection))
      waiting = waiting.subarray(bodyEnd)
    }
  }
}

function bodyLength(head: string): number {
  if (/^transfer-encoding:/im.test(head))
    throw new Error('The fake upstream does not support chunked request bodies.')
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
}

function recorded(head: string, body: Uint8Array<ArrayBuffer>, connection: number): RecordedRequest {
  const [requestLine = '', ...lines] = head.split('\r\n')
  const [method = '', path = ''] = requestLine.split(' ')
  const headers = Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const text = () => decoder.decode(body)
  return { method, path, headers, head, body, connection, text, json: () => JSON.parse(text()) as unknown }
}
