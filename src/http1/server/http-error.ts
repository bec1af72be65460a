/** Why a request or its body cannot be read. */
export type HttpErrorCode =
  | 'malformed_request'
  | 'headers_too_large'
  | 'headers_timeout'
  | 'body_too_large'
  | 'body_timeout'
  | 'body_not_utf8'
  /** The response was sent before the body was read. */
  | 'body_discarded'
  | 'client_disconnected'
  | 'too_many_connections'

/** A refusal of the HTTP server. The message is a sentence for the client. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode

  constructor(code: HttpErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

const BYTES_PER_MB = 1 << 20

export function bodyTooLarge(bytesMax: number): HttpError {
  // Limits can be set with up to three decimals.
  const megabytes = Math.round((bytesMax / BYTES_PER_MB) * 1000) / 1000
  return new HttpError('body_too_large', `The request body exceeds the limit of ${megabytes} MB.`)
}
