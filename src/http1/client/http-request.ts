/** Where requests go: what a connection is opened with and kept under. */
export type Origin = {
  /** Equal for equal servers. */
  readonly key: string
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  /** Whether the host is an IP address and no name. */
  readonly isAddress: boolean
}

/** All of a POST request that is the same each time. */
export type HttpRequest = {
  readonly url: string
  readonly headers: Headers
  readonly origin: Origin
  /** Latin-1, up to and including the name of `content-length`, whose value and body follow. */
  readonly head: string
}

/** Names that say how this one message travels, which is for the client alone to say. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A POST to an http or https URL. The headers have been checked, as `Headers` does. */
export function httpRequest(url: URL, headers: Headers): HttpRequest {
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  // IPv6 addresses stand in brackets in a URL, and nowhere else.
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isAddress = hostname.includes(':') || /^[0-9.]+$/.test(hostname)
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    ...(headers.has('host') ? [] : [`host: ${url.host}`]),
    'connection: keep-alive',
  ]
  for (const [name, value] of headers) {
    if (!FRAMING.has(name)) lines.push(`${name}: ${value}`)
  }
  const head = `${lines.join('\r\n')}\r\ncontent-length: `
  return {
    url: url.href,
    headers,
    origin: { key: `${url.protocol}//${hostname}:${port}`, hostname, port, isTls, isAddress },
    head,
  }
}
