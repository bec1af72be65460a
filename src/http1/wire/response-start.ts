/** The reason phrases of common statuses. Clients use only the number. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  499: 'Client Closed Request',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  529: 'Overloaded',
}

/**
 * The status line and header lines of a response, each with its CRLF. Each cookie has a line of its own. Throws for a
 * value that cannot be sent in one line, because a line end in a value would allow response splitting.
 */
export function responseStart(
  status: number,
  headers: Readonly<Record<string, string>>,
  cookies?: readonly string[],
): string {
  let text = status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${REASONS[status] ?? 'Status'}\r\n`
  for (const name in headers) text += headerLine(name, headers[name] ?? '')
  if (cookies !== undefined) for (const cookie of cookies) text += headerLine('set-cookie', cookie)
  return text
}

function headerLine(name: string, value: string): string {
  if (!fitsInOneLine(value))
    throw new Error(`The value of the header ${name} is not a single line of Latin-1 text.`)
  return `${name}: ${value}\r\n`
}

/** Whether a response with this status never has a body. */
export function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}

/** Characters outside Latin-1 are not allowed either: cut to one byte, they can become a line end. */
function fitsInOneLine(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const char = value.charCodeAt(index)
    if (char < 32 || char === 127 || char > 255) {
      if (char !== 9) return false
    }
  }
  return true
}
