import { readLink, useLink } from '../../gateway/admin/users/links.ts'
import { requireStaff, signIn } from '../../gateway/admin/users/sign-in.ts'
import { adminApiAt } from '../admin/admin-api.ts'
import { optionalTextField, textField } from '../admin/body.ts'
import { instant } from '../../domain/time.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { BufferedReply, Handler } from '../request-context.ts'
import type { Route } from '../routes.ts'
import {
  admitBrowser,
  consoleReply,
  openHandler,
  sessionBody,
  sessionHandler,
  signedInReply,
  type ConsolePorts,
  type OpenCall,
  type OpenHandler,
  type SessionCall,
  type SessionHandler,
} from './calls.ts'
import { endedSessionCookie } from './cookies.ts'
import { finishHandler, startHandler } from './open-id.ts'
import {
  deleteSessionById,
  deleteSessions,
  deleteTotp,
  listSessions,
  postPassword,
  postReset,
  postTotp,
  putTotp,
} from './own-sign-in.ts'
import { isSecure } from './own-site.ts'

/**
 * The API of the console below `<path>/api/`. All its routes that set a cookie have one segment, so that the
 * cookie, which has no path of its own, is sent to all of them, also behind a proxy that adds a prefix.
 */
export function consoleApi(path: string, ports: ConsolePorts): readonly Route[] {
  const open = (handle: OpenHandler) => openHandler(handle, ports)
  const signedIn = (handle: SessionHandler) => sessionHandler(handle, ports)
  const admin = adminHandler(`${path}/api/admin/`, ports)
  const routes = {
    'sign-in': { GET: open(getSignIn) },
    session: { GET: signedIn(getSession), POST: open(postSession), DELETE: signedIn(deleteSession) },
    sessions: { GET: signedIn(listSessions), DELETE: signedIn(deleteSessions) },
    'sessions/*': { DELETE: signedIn(deleteSessionById) },
    link: { POST: open(postLink), PUT: open(putLink) },
    resets: { POST: open(postReset) },
    password: { POST: signedIn(postPassword) },
    totp: { POST: signedIn(postTotp), PUT: signedIn(putTotp), DELETE: signedIn(deleteTotp) },
    oidc: { GET: startHandler(ports) },
    'oidc-callback': { GET: finishHandler(ports) },
    'admin/*': { GET: admin, POST: admin, PUT: admin, PATCH: admin, DELETE: admin },
  } satisfies Record<string, Route['methods']>
  return Object.entries(routes).map(([name, methods]) => ({
    path: `${path}/api/${name}`,
    name: `console.${name.replace('/*', '')}`,
    methods,
  }))
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

/** What the page to sign in offers. */
async function getSignIn(
  _: OpenCall,
  { openId, mailer, product, users }: ConsolePorts,
): Promise<BufferedReply> {
  const oidc = openId === undefined ? null : { name: openId.provider.name }
  const hasUsers = await users.hasAny()
  return consoleReply({ password: true, oidc, mail: mailer !== undefined, product, has_users: hasUsers })
}

async function getSession(
  { user, session, cookie }: SessionCall,
  ports: ConsolePorts,
): Promise<BufferedReply> {
  return consoleReply(await sessionBody({ user, session, text: cookie }, ports))
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
  return { status: 204, headers: {}, cookies: [endedSessionCookie(isSecure(request, site))], body: null }
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
