import { BlockList, isIP } from 'node:net'
import type { IncomingRequest } from './incoming-request.ts'

/** An address with the number of its leading bits that count. */
export type Subnet = { readonly address: string; readonly prefix: number }

export type ForwardingSettings = {
  /** The addresses of the proxies in front of the gateway. */
  readonly trustedProxies: readonly Subnet[]
  /** Where those proxies name the client. A client can send the other header itself, so it is not read. */
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
}

type ForwardedRequest = Pick<IncomingRequest, 'header' | 'remoteAddress'>

/** What one proxy reports about the request that it received. Undefined members are missing or cannot be read. */
type Hop = { readonly client?: string; readonly host?: string; readonly scheme?: string }

/** How a request came to the gateway. Only headers of trusted proxies are read. */
export class Forwarding {
  readonly #proxies = new BlockList()
  readonly #hasProxies: boolean
  readonly #header: ForwardingSettings['proxyHeader']

  constructor({ trustedProxies, proxyHeader }: ForwardingSettings) {
    for (const { address, prefix } of trustedProxies)
      this.#proxies.addSubnet(address, prefix, familyOf(address))
    this.#hasProxies = trustedProxies.length > 0
    this.#header = proxyHeader
  }

  /** The address of the client: the first from the right that is not a trusted proxy. */
  clientAddress(request: ForwardedRequest): string {
    let client = plainAddress(request.remoteAddress)
    if (!this.#isTrusted(client)) return client
    for (const { client: before } of this.#hops(request).toReversed()) {
      if (before === undefined) break
      client = before
      if (!this.#isTrusted(client)) break
    }
    return client
  }

  /**
   * The address of the client for a decision about access. Undefined if a trusted proxy does not name the client in a
   * way that can be read: the address of the proxy must not count as the client's.
   */
  certainClient(request: ForwardedRequest): string | undefined {
    let client = plainAddress(request.remoteAddress)
    if (!this.#isTrusted(client)) return client
    const hops = this.#hops(request).toReversed()
    if (hops.length === 0) return undefined
    for (const { client: before } of hops) {
      if (before === undefined) return undefined
      client = before
      if (!this.#isTrusted(client)) break
    }
    return client
  }

  /** The host and scheme that the client used, as far as a trusted proxy names them. */
  publicOrigin(request: ForwardedRequest): Pick<Hop, 'host' | 'scheme'> {
    if (!this.#isTrusted(plainAddress(request.remoteAddress))) return {}
    if (this.#header === 'forwarded') return this.#outermost(request) ?? {}
    const host = firstOf(request.header('x-forwarded-host'))
    const scheme = firstOf(request.header('x-forwarded-proto'))
    return { ...(host !== undefined && { host }), ...(scheme !== undefined && { scheme }) }
  }

  /** The report of the trusted proxy that is farthest from the gateway. */
  #outermost(request: ForwardedRequest): Hop | undefined {
    let outermost: Hop | undefined
    for (const hop of this.#hops(request).toReversed()) {
      outermost = hop
      if (hop.client === undefined || !this.#isTrusted(hop.client)) break
    }
    return outermost
  }

  #hops(request: ForwardedRequest): readonly Hop[] {
    const value = request.header(this.#header)
    if (value === null) return []
    return this.#header === 'forwarded'
      ? forwardedHops(value)
      : value.split(',').map(text => hopOf({ for: text.trim() }))
  }

  #isTrusted(address: string): boolean {
    return this.#hasProxies && isIP(address) !== 0 && this.#proxies.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

const PAIR = /\s*([a-z]+)=("(?:[^"\\]|\\.)*"|[^\s";,]*)\s*(?:([;,])|$)/iy

/** The elements of a `Forwarded` header by RFC 7239, section 4. Empty for a header of another form. */
function forwardedHops(value: string): readonly Hop[] {
  const hops: Hop[] = []
  let pairs: Record<string, string> = {}
  PAIR.lastIndex = 0
  while (PAIR.lastIndex < value.length) {
    const match = PAIR.exec(value)
    if (match === null) return []
    const [, name = '', text = '', end] = match
    pairs[name.toLowerCase()] = text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text
    if (end === ';') continue
    hops.push(hopOf(pairs))
    pairs = {}
  }
  return hops
}

function hopOf(pairs: Readonly<Record<string, string>>): Hop {
  const client = nodeAddress(pairs['for'] ?? '')
  const { host, proto: scheme } = pairs
  return {
    ...(client !== undefined && { client }),
    ...(host !== undefined && { host }),
    ...(scheme !== undefined && { scheme }),
  }
}

/** The address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`. */
function nodeAddress(node: string): string | undefined {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(node) ?? []
  const address = plainAddress(bracketed ?? (node.includes('.') ? node.replace(/:\d+$/, '') : node))
  return isIP(address) === 0 ? undefined : address
}

/** An IPv4 address that came over IPv6, in its own form. */
function plainAddress(address: string): string {
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice('::ffff:'.length) : address
}

/** Each proxy appends its own element. */
function firstOf(list: string | null): string | undefined {
  const [first = ''] = (list ?? '').split(',')
  return first.trim() === '' ? undefined : first.trim()
}
