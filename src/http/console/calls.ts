import { currentDay } from '../../domain/admin/admin-token.ts'
import { sessionEndsAtMs } from '../../domain/admin/user.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import type { LinkPorts } from '../../gateway/admin/users/links.ts'
import {
  admitSession,
  csrfToken,
  type AdmittedSession,
  type Browser,
  type SignedIn,
  type SignInPorts,
} from '../../gateway/admin/users/sign-in.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import type { Mailer } from '../../gateway/ports/events/mail.ts'
import type { OpenIdProvider } from '../../gateway/ports/access/sign-in.ts'
import { bufferedRequest } from '../admin/admin-api.ts'
import { readFields, type Fields } from '../admin/body.ts'
import { instant } from '../../domain/time.ts'
import type { AdminPorts } from '../admin/ports.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type BufferedReply, type Handler, type RequestContext } from '../request-context.ts'
import { sessionCookie, sessionOf } from './cookies.ts'
import { isSecure, requireOwnSite, type OwnSite } from './own-site.ts'

export type ConsolePorts = SignInPorts &
  LinkPorts & {
    readonly admin: AdminPorts
    readonly bodyMemory: ByteBudget
    readonly site: OwnSite & { readonly forwarding: Pick<Forwarding, 'publicOrigin' | 'clientAddress'> }
    /** Undefined without the settings of an OpenID provider. */
    readonly openId: { readonly provider: OpenIdProvider; readonly redirectUri: string } | undefined
    /** What apps and pages call the gateway. */
    readonly product: string
    /** Told of failures that nobody waits for, and of those of the OpenID provider. */
    readonly onFailed: (error: unknown) => void
    readonly mailer: Mailer | undefined
  }

/** A call without a session. */
export type OpenCall = {
  readonly request: IncomingRequest
  readonly browser: Browser
  /** The members of the body. */
  readonly fields: (known: readonly string[]) => Promise<Fields>
}
export type OpenHandler = (call: OpenCall, ports: ConsolePorts) => Promise<BufferedReply>
export type SessionCall = OpenCall & AdmittedSession & { readonly cookie: string }
export type SessionHandler = (call: SessionCall, ports: ConsolePorts) => Promise<BufferedReply>

export function openHandler(handle: OpenHandler, ports: ConsolePorts): Handler {
  return async context => {
    requireOwnSite(context.request, ports.site)
    return handle(callOf(context, ports), ports)
  }
}

export function sessionHandler(handle: SessionHandler, ports: ConsolePorts): Handler {
  return async context => {
    const { request } = context
    const admitted = await admitBrowser(request, ports)
    const cookie = sessionOf(request) ?? ''
    return handle({ ...callOf(context, ports), ...admitted, cookie }, ports)
  }
}

/** Forms are small. */
const FORM_BYTES_MAX = 16_384

/** The session of a request. A change needs its token too, so that no other page can make the browser send it. */
export async function admitBrowser(request: IncomingRequest, ports: ConsolePorts): Promise<AdmittedSession> {
  requireOwnSite(request, ports.site)
  const cookie = sessionOf(request)
  const admitted = await admitSession(cookie, ports)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead || request.header('x-csrf-token') === csrfToken(cookie ?? '', ports)) return admitted
  throw new GatewayError(
    'cross_site_request',
    'The header "X-CSRF-Token" is not that of this session. Reload the page and try again.',
    { shouldRetry: false },
  )
}

function callOf(context: RequestContext, ports: ConsolePorts): OpenCall {
  const { request } = context
  return {
    request,
    browser: browserOf(request, ports),
    fields: known => {
      const { text, ...rest } = bufferedRequest(context, ports.bodyMemory)
      return readFields({ ...rest, text: limits => text({ ...limits, bytesMax: FORM_BYTES_MAX }) }, known)
    },
  }
}

export function browserOf(request: IncomingRequest, { site }: ConsolePorts): Browser {
  return {
    address: site.forwarding.clientAddress(request),
    userAgent: request.header('user-agent') ?? '',
    cookie: sessionOf(request),
  }
}

/** The reply that signs a browser in: a new cookie, and the same body as `GET session`. */
export async function signedInReply(
  signedIn: SignedIn,
  request: IncomingRequest,
  ports: ConsolePorts,
): Promise<BufferedReply> {
  const cookie = sessionCookie(signedIn.text, isSecure(request, ports.site))
  return { ...consoleReply(await sessionBody(signedIn, ports)), cookies: [cookie] }
}

export async function sessionBody({ user, session, text }: SignedIn, ports: ConsolePorts): Promise<object> {
  const { publicId: id, email, name, role, hasTotp, hasPassword, grantsPerDay } = user
  const today =
    grantsPerDay === null ? undefined : currentDay(await ports.users.latestGrants(user.id), ports.clock.now())
  return {
    user: {
      id,
      email,
      name,
      role,
      has_totp: hasTotp,
      has_password: hasPassword,
      grants_per_day_usd: grantsPerDay === null ? null : formatUsd(grantsPerDay),
      granted_today_usd: today === undefined ? null : formatUsd(today.granted),
    },
    csrf_token: csrfToken(text, ports),
    expires_at: instant(sessionEndsAtMs(session)),
  }
}

/** A reply that no cache keeps, because it is for one person. */
export function consoleReply(body: unknown): BufferedReply {
  return jsonReply(200, body, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
}
