import { sessionEndsAtMs } from '../../domain/admin/user.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { readLink, useLink, type LinkPorts } from '../../gateway/admin/users/links.ts'
import {
  admitSession,
  csrfToken,
  requireStaff,
  signIn,
  type AdmittedSession,
  type Browser,
  type SignedIn,
  type SignInPorts,
} from '../../gateway/admin/users/sign-in.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import type { Mailer } from '../../gateway/ports/mail.ts'
import type { OpenIdProvider } from '../../gateway/ports/sign-in.ts'
import { adminApiAt, bufferedRequest } from '../admin/admin-api.ts'
import { optionalTextField, readFields, textField, type Fields } from '../admin/body.ts'
import { instant } from '../admin/instant.ts'
import type { AdminPorts } from '../admin/ports.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type BufferedReply, type Handler, type RequestContext } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { cookieOf, endedCookie, sessionCookie } from './cookies.ts'
import { isSecure, requireOwnSite, type OwnSite } from './own-site.ts'

export type ConsolePorts = SignInPorts &
  LinkPorts & {
    readonly admin: AdminPorts
    readonly bodyMemory: ByteBudget
    readonly site: OwnSite & { readonly forwarding: Pick<Forwarding, 'publicOrigin' | 'clientAddress'> }
    /** Undefined without the settings of an OpenID provider. */
    readonly openId: OpenIdProvider | undefined
    readonly mailer: Mailer | undefined
  }

/** Forms are small. */
const FORM_BYTES_MAX = 16_384

/**
 * The API of the console below `<path>/api/`. All its routes but those of the admin API have one segment, so that the
 * cookie, which has no path of its own, is sent to all of them, also behind a proxy that adds a prefix.
 */
export function consoleApi(path: string, ports: ConsolePorts): readonly Route[] {
  const open = (handle: OpenHandler) => openHandler(handle, ports)
  const signedIn = (handle: SessionHandler) => sessionHandler(handle, ports)
  const admin = adminHandler(`${path}/api/admin/`, ports)
  const routes = {
    'sign-in': { GET: open(getSignIn) },
    session: { GET: signedIn(getSession), POST: open(postSession), DELETE: signedIn(deleteSession) },
    link: { POST: open(postLink), PUT: open(putLink) },
    'admin/*': { GET: admin, POST: admin, PUT: admin, PATCH: admin, DELETE: admin },
  } satisfies Record<string, Route['methods']>
  return Object.entries(routes).map(([name, methods]) => ({
    path: `${path}/api/${name}`,
    name: `console.${name.replace('/*', '')}`,
    methods,
  }))
}

/** A call without a session. */
type OpenCall = {
  readonly request: IncomingRequest
  readonly browser: Browser
  /** The members of the body. */
  readonly fields: (known: readonly string[]) => Promise<Fields>
}
type OpenHandler = (call: OpenCall, ports: ConsolePorts) => Promise<BufferedReply>
type SessionCall = OpenCall & AdmittedSession & { readonly cookie: string }
type SessionHandler = (call: SessionCall, ports: ConsolePorts) => Promise<BufferedReply>

function openHandler(handle: OpenHandler, ports: ConsolePorts): Handler {
  return async context => {
    requireOwnSite(context.request, ports.site)
    return handle(callOf(context, ports), ports)
  }
}

function sessionHandler(handle: SessionHandler, ports: ConsolePorts): Handler {
  return async context => {
    const { request } = context
    const admitted = await admitBrowser(request, ports)
    const cookie = cookieOf(request) ?? ''
    return handle({ ...callOf(context, ports), ...admitted, cookie }, ports)
  }
}

/** Everything below it is the admin API, for the user of the session. */
function adminHandler(path: string, ports: ConsolePorts): Handler {
  const callerOf = async (request: IncomingRequest) => {
    const { user, caller } = await admitBrowser(request, ports)
    requireStaff(user)
    return caller
  }
  return adminApiAt(path, ports.admin, { callerOf, bodyMemory: ports.bodyMemory })
}

/** The session of a request. A change needs its token too, so that no other page can make the browser send it. */
async function admitBrowser(request: IncomingRequest, ports: ConsolePorts): Promise<AdmittedSession> {
  requireOwnSite(request, ports.site)
  const cookie = cookieOf(request)
  const admitted = await admitSession(cookie, ports)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead || request.header('x-csrf-token') === csrfToken(cookie ?? '', ports)) return admitted
  throw new GatewayError(
    'cross_site_request',
    'The header "X-CSRF-Token" is not that of this session. Reload the page and try again.',
    { shouldRetry: false },
  )
}

function callOf(context: RequestContext, { site, bodyMemory }: ConsolePorts): OpenCall {
  const { request } = context
  return {
    request,
    browser: {
      address: site.forwarding.clientAddress(request),
      userAgent: request.header('user-agent') ?? '',
      cookie: cookieOf(request),
    },
    fields: known => {
      const { text, ...rest } = bufferedRequest(context, bodyMemory)
      return readFields({ ...rest, text: limits => text({ ...limits, bytesMax: FORM_BYTES_MAX }) }, known)
    },
  }
}

/** What the page to sign in offers. */
async function getSignIn(_: OpenCall, { openId, mailer }: ConsolePorts): Promise<BufferedReply> {
  const oidc = openId === undefined ? null : { name: openId.name }
  return consoleReply({ password: true, oidc, mail: mailer !== undefined, product: 'Tollgate' })
}

async function getSession(
  { user, session, cookie }: SessionCall,
  ports: ConsolePorts,
): Promise<BufferedReply> {
  return consoleReply(sessionBody({ user, session, text: cookie }, ports))
}

async function postSession(
  { request, browser, fields }: OpenCall,
  ports: ConsolePorts,
): Promise<BufferedReply> {
  const form = await fields(['email', 'password', 'code'])
  const asked = {
    email: textField(form, 'email', 'an e-mail address'),
    password: textField(form, 'password', 'a password'),
    code: optionalTextField(form, 'code', 'a one-time code'),
  }
  return signedInReply(await signIn(asked, browser, ports), request, ports)
}

async function deleteSession(
  { request, user, session, caller }: SessionCall,
  { userSessions, clock, site }: ConsolePorts,
): Promise<BufferedReply> {
  const by = { actor: caller.actor, atMs: clock.now() }
  await userSessions.end({ userId: user.id, publicId: session.publicId }, by)
  return { status: 204, headers: { 'set-cookie': endedCookie(isSecure(request, site)) }, body: null }
}

/** What a link is for. It is in the body, because paths get into logs. */
async function postLink({ fields }: OpenCall, ports: ConsolePorts): Promise<BufferedReply> {
  const link = await readLink(textField(await fields(['token']), 'token', 'the text of a link'), ports)
  const user = link.kind === 'first' ? undefined : link.user
  return consoleReply({
    kind: link.kind,
    email: user?.email ?? null,
    name: user?.name ?? null,
    role: user?.role ?? 'owner',
    expires_at: instant(link.expiresAtMs),
  })
}

async function putLink({ request, browser, fields }: OpenCall, ports: ConsolePorts): Promise<BufferedReply> {
  const form = await fields(['token', 'email', 'name', 'password', 'code'])
  const asked = {
    text: textField(form, 'token', 'the text of a link'),
    email: optionalTextField(form, 'email', 'an e-mail address'),
    name: optionalTextField(form, 'name', 'the name of a person'),
    password: textField(form, 'password', 'a password'),
    code: optionalTextField(form, 'code', 'a one-time code'),
  }
  return signedInReply(await useLink(asked, browser, ports), request, ports)
}

/** The reply that signs a browser in: a new cookie, and the same body as `GET session`. */
function signedInReply(signedIn: SignedIn, request: IncomingRequest, ports: ConsolePorts): BufferedReply {
  const cookie = sessionCookie(signedIn.text, isSecure(request, ports.site))
  return consoleReply(sessionBody(signedIn, ports), { 'set-cookie': cookie })
}

function sessionBody({ user, session, text }: SignedIn, ports: ConsolePorts): object {
  const { publicId: id, email, name, role, hasTotp, hasPassword, grantsPerDay } = user
  return {
    user: {
      id,
      email,
      name,
      role,
      has_totp: hasTotp,
      has_password: hasPassword,
      grants_per_day_usd: grantsPerDay === null ? null : formatUsd(grantsPerDay),
    },
    csrf_token: csrfToken(text, ports),
    expires_at: instant(sessionEndsAtMs(session)),
  }
}

/** A reply that no cache keeps, because it is for one person. */
function consoleReply(body: unknown, headers: Record<string, string> = {}): BufferedReply {
  return jsonReply(200, body, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
}
