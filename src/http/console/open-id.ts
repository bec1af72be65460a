import { GatewayError } from '../../domain/errors.ts'
import { finishOpenId, startOpenId } from '../../gateway/admin/users/open-id-sign-in.ts'
import type { Handler, HttpReply } from '../request-context.ts'
import { browserOf, type ConsolePorts } from './calls.ts'
import { cookie, cookieOf, sessionCookie } from './cookies.ts'
import { isSecure, requireOwnSite } from './own-site.ts'

/** The cookie of a browser that is at the provider. */
const STARTED = 'tollgate_sign_in'
const STARTED_MS = 600_000

/** Sends the browser to the OpenID provider. */
export function startHandler(ports: ConsolePorts): Handler {
  return async ({ request }) => {
    requireOwnSite(request, ports.site)
    const { secret, url } = await startOpenId(openIdPorts(ports))
    const started = cookie(STARTED, {
      text: secret,
      ageMs: STARTED_MS,
      isSecure: isSecure(request, ports.site),
    })
    return redirect(url, { 'set-cookie': started })
  }
}

/**
 * Where the provider sends the browser back to. The browser comes from another site, so nothing but its cookie says
 * that it started here. It always goes on to the console, whatever the address says.
 */
export function finishHandler(ports: ConsolePorts): Handler {
  return async ({ request }) => {
    const { provider, ...openId } = openIdPorts(ports)
    const returnedTo = new URL(openId.redirectUri)
    returnedTo.search = request.query
    try {
      const started = { secret: cookieOf(request, STARTED), returnedTo }
      const { text } = await finishOpenId(started, browserOf(request, ports), { provider, ...openId })
      return redirect('../', { 'set-cookie': sessionCookie(text, isSecure(request, ports.site)) })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      ports.onFailed(error)
      return redirect(`../#sign-in-error=${encodeURIComponent(error.message)}`)
    }
  }
}

function openIdPorts(ports: ConsolePorts) {
  const { openId } = ports
  if (openId === undefined)
    throw new GatewayError('not_found', 'This gateway has no OpenID provider. Sign in with a password.')
  const { users, userSessions, newId, randomBytes, sha256, clock } = ports
  return { users, userSessions, newId, randomBytes, sha256, clock, ...openId }
}

function redirect(location: string, headers: Record<string, string> = {}): HttpReply {
  const fixed = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return { status: 302, headers: { ...fixed, ...headers, location }, body: null }
}
