import type { ByteStream } from '../byte-stream.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody, responseStart } from '../wire/response-start.ts'

export type ServerResponse = {
  readonly status: number
  /** By names in lower case. The server adds `date`, `content-length` or `transfer-encoding`, and `connection`. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * A string is sent as UTF-8. A stream is read as fast as the client takes it, and cancelled when the client
   * disconnects.
   */
  readonly body: string | Uint8Array | ByteStream | null
}

export function isStream(body: ServerResponse['body']): body is ByteStream {
  return body !== null && typeof body === 'object' && 'cancel' in body
}

/** The head of a response, including the blank line. Throws for a header value that does not fit in one line. */
export function responseHead(
  { status, headers, body }: ServerResponse,
  { isHttp10 }: RequestHead,
  { date, isLast }: { readonly date: string; readonly isLast: boolean },
): string {
  let text = `${responseStart(status, headers)}date: ${date}\r\n`
  if (isLast) {
    if (headers['connection'] === undefined) text += 'connection: close\r\n'
  } else if (isHttp10) text += 'connection: keep-alive\r\n'
  if (hasNoBody(status)) return `${text}\r\n`
  if (isStream(body)) return isHttp10 ? `${text}\r\n` : `${text}transfer-encoding: chunked\r\n\r\n`
  return `${text}content-length: ${byteLength(body)}\r\n\r\n`
}

function byteLength(body: string | Uint8Array | null): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}
