import { GatewayError } from '../../domain/errors.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'

export type OwnSite = {
  readonly forwarding: Pick<Forwarding, 'publicOrigin'>
  /** `TOLLGATE_BASE_URL` */
  readonly baseUrl: string | undefined
}

type SiteRequest = Pick<IncomingRequest, 'method' | 'header' | 'remoteAddress'>

/**
 * Throws `cross_site_request` for a change that another site's page asks for. Browsers name the page's origin in each
 * such request, and scripts cannot change it. It must be the host that the browser called: that of `Host`, of a trusted
 * proxy's headers, or of the public address.
 */
export function requireOwnSite(request: SiteRequest, site: OwnSite): void {
  const isChange = request.method !== 'GET' && request.method !== 'HEAD'
  const from = request.header('sec-fetch-site')
  const isForeign = isChange ? from !== null && from !== 'same-origin' : from === 'cross-site'
  if (isForeign) throw crossSite('Reload the page and try again.')
  if (!isChange) return
  const origin = request.header('origin')
  if (origin === null) throw crossSite('Its header "Origin" is missing.')
  if (!isOwnOrigin(origin, request, site))
    throw crossSite(
      'Its "Origin" is not the host of the request. Behind a proxy that changes "Host", set TOLLGATE_BASE_URL.',
    )
}

/** Whether the browser called the gateway over TLS, as far as a trusted proxy or the settings say so. */
export function isSecure(request: SiteRequest, { forwarding, baseUrl }: OwnSite): boolean {
  return forwarding.publicOrigin(request).scheme === 'https' || (baseUrl?.startsWith('https:') ?? false)
}

function isOwnOrigin(origin: string, request: SiteRequest, { forwarding, baseUrl }: OwnSite): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  if (baseUrl !== undefined && new URL(baseUrl).origin === origin) return true
  const { host: forwarded, scheme } = forwarding.publicOrigin(request)
  if (scheme !== undefined && protocol !== `${scheme}:`) return false
  // A trusted proxy knows the host that the browser called.
  const own = forwarded ?? request.header('host')
  // Without the default port, like the origin.
  const url = `${protocol}//${own}`
  return own !== null && URL.canParse(url) && new URL(url).host === host
}

function crossSite(help: string): GatewayError {
  return new GatewayError('cross_site_request', `This request does not come from the console. ${help}`, {
    shouldRetry: false,
  })
}
