import { endOf, TOKEN } from '../wire/char-class.ts'

/** Where connections go. Requests of equal keys may share connections. */
export type Origin = {
  readonly key: string
  /** The IP address to connect to, or a name to resolve. */
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  /**
   * The name that TLS asks for and the certificate is checked against. Absent for an IP address, which is checked
   * itself.
   */
  readonly serverName?: string
}

/** All of a request except its body. Made once for many requests that differ only in their bodies. */
export type HttpRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly origin: Origin
  /** The IP address that the caller pinned. */
  readonly pinnedAddress: string | undefined
  /** Whether it may use the connection of an earlier request, and leave it to a later one. */
  readonly reusesConnection: boolean
  /** The request line and the header lines, in Latin-1. The lines that frame the body follow. */
  readonly head: string
}

export type HttpRequestOptions = {
  readonly method: string
  /** http or https. */
  readonly url: URL
  readonly headers?: Headers
  /** The IP address to connect to. The `host` header, TLS and its certificate check still use the URL's host. */
  readonly pinnedAddress?: string
  /** True if absent. */
  readonly reuseConnection?: boolean
}

/** Headers that frame one message. The client writes them itself. */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Throws a TypeError for what this client cannot send. */
export function httpRequest({
  method,
  url,
  headers = new Headers(),
  pinnedAddress,
  reuseConnection = true,
}: HttpRequestOptions): HttpRequest {
  if (!isToken(method)) throw new TypeError('The method is not an HTTP token.')
  if (method === 'CONNECT') throw new TypeError('CONNECT requests are not supported.')
  const origin = originOf(url, pinnedAddress)
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...(headers.has('host') ? [] : [`host: ${url.host}`]),
    `connection: ${reuseConnection ? 'keep-alive' : 'close'}`,
  ]
  for (const [name, value] of headers) {
    if (!FRAMING_HEADERS.has(name)) lines.push(`${name}: ${value}`)
  }
  const head = `${lines.join('\r\n')}\r\n`
  return { method, url: url.href, headers, origin, pinnedAddress, reusesConnection: reuseConnection, head }
}

function originOf(url: URL, pinnedAddress: string | undefined): Origin {
  const isTls = url.protocol === 'https:'
  if (!isTls && url.protocol !== 'http:') throw new TypeError('The URL is neither http nor https.')
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  // Only URLs write IPv6 addresses in brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const address = pinnedAddress ?? host
  if (!isAddress(host)) {
    const key = `${url.protocol}//${host}:${port}@${pinnedAddress ?? ''}`
    return { key, address, port, isTls, ...(isTls ? { serverName: host } : {}) }
  }
  if (address !== host) throw new TypeError('The URL names another address than the pinned one.')
  return { key: `${url.protocol}//${host}:${port}@`, address, port, isTls }
}

/** A URL writes an IPv4 address in four numbers, and a name never ends in a number. */
function isAddress(host: string): boolean {
  return host.includes(':') || /^[0-9.]+$/.test(host)
}

function isToken(text: string): boolean {
  return text !== '' && endOf(TOKEN, Buffer.from(text), 0) === Buffer.byteLength(text)
}
