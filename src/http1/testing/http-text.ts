/** The text of a GET request. */
export function getRequest(path = '/', ...lines: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'host: h', ...lines, '', ''].join('\r\n')
}

/** The head of a POST request. */
export function postHead(...lines: string[]): string {
  return ['POST / HTTP/1.1', 'host: h', ...lines, '', ''].join('\r\n')
}

/** A chunked body whose first chunks have these sizes. The last chunk before the end has the rest. */
export function chunkedBody(body: string, sizes: readonly number[] = []): string {
  let at = 0
  let text = ''
  for (const size of [...sizes, body.length]) {
    const piece = body.slice(at, at + size)
    if (piece !== '') text += `${piece.length.toString(16)}\r\n${piece}\r\n`
    at += size
  }
  return `${text}0\r\n\r\n`
}

/** The head of a response that a fake connection sends. */
export function responseHeadText(...lines: string[]): string {
  return ['HTTP/1.1 200 OK', 'date: Thu, 01 Jan 1970 00:00:00 GMT', ...lines, '', ''].join('\r\n')
}

/** A complete response that a fake connection sends. */
export function responseText(body: string, ...lines: string[]): string {
  return responseHeadText(...lines, `content-length: ${body.length}`) + body
}
