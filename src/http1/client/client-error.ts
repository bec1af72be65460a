/** The codes of this library. A failure of the network or of TLS has the code that the runtime gave it. */
export type ClientErrorCode =
  /** The caller aborted the request, or cancelled its response. */
  | 'ABORT_ERR'
  /** TCP and TLS together took longer than `connectTimeoutMs`. */
  | 'CONNECT_TIMEOUT'
  /** The response was not whole within `timeoutMs`. */
  | 'RESPONSE_TIMEOUT'
  /** The response is longer than its reader allows. */
  | 'RESPONSE_TOO_LARGE'
  /** The server sent bytes before the request was sent. */
  | 'UNSOLICITED_DATA'
  /** The stream of a request body is shorter or longer than declared. */
  | 'REQUEST_BODY_LENGTH'
  /** A request with a pinned address cannot go through a proxy, which resolves names itself. */
  | 'ADDRESS_NEEDS_DIRECT_CONNECTION'
  /** The server closed the connection, with a reset or without one. */
  | 'ECONNRESET'
  | 'ERR_TLS_CERT_INVALID'
  | 'Malformed_HTTP_Response'
  | 'InvalidHTTPResponse'

/** Why a request failed. The message names neither host nor header. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: string
  /** False if the server cannot have seen any of the request. */
  readonly isRequestSent: boolean

  constructor(code: string, isRequestSent = true) {
    super(code)
    this.code = code
    this.isRequestSent = isRequestSent
  }
}

export function clientError(code: ClientErrorCode): ClientError {
  return new ClientError(code)
}

/** The error that a socket reported. */
export function socketError(error: unknown): ClientError {
  return new ClientError(codeOf(error) ?? ('ECONNRESET' satisfies ClientErrorCode))
}

/** The same failure, of a request that was not sent. */
export function unsent(error: unknown): ClientError {
  return new ClientError(codeOf(error) ?? ('ECONNRESET' satisfies ClientErrorCode), false)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
