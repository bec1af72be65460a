import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port. */
const AUTHORITY = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

export type BaseUrlSettings = {
  /** The operator's own, without a trailing slash. */
  readonly baseUrl: string | undefined
}

/**
 * The base URL by which the client of a request reaches the gateway, without a trailing slash: the operator's setting,
 * or else the request's own host. Empty for a host that is not valid, so that links are relative to the request's
 * address.
 */
export function publicBaseUrl(
  request: Pick<IncomingRequest, 'header' | 'remoteAddress'>,
  { baseUrl }: BaseUrlSettings,
  { forwarding }: { readonly forwarding: Forwarding },
): string {
  if (baseUrl !== undefined) return baseUrl
  const forwarded = forwarding.publicOrigin(request)
  const host = forwarded.host ?? request.header('host')
  if (host === null || !AUTHORITY.test(host)) return ''
  const scheme = forwarded.scheme?.toLowerCase() === 'https' ? 'https' : 'http'
  return `${scheme}://${host}`
}
