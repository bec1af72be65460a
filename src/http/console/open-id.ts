import { GatewayError } from '../../domain/errors.ts'
import { finishOpenId, reasonOf, startOpenId } from '../../gateway/admin/users/open-id-sign-in.ts'
import type { Handler, HttpReply } from '../request-context.ts'
import { browserOf, type ConsolePorts } from './calls.ts'
import { endedSignInCookie, sessionCookie, signInCookie, signInOf } from './cookies.ts'
import { isSecure, requireOwnSite } from './own-site.ts'

/** Sends the browser to the OpenID provider, or back to the console if the provider does not answer. */
export function startHandler(ports: ConsolePorts): Handler {
  return async ({ request }) => {
    requireOwnSite(request, ports.site)
    const openId = openIdPorts(ports)
    try {
      const { secret, url } = await startOpenId(openId)
      return redirect(url, [signInCookie(secret, isSecure(request, ports.site))])
    } catch (error) {
      return refused(error, ports)
    }
  }
}

/**
 * Where the provider sends the browser back to. The browser comes from another site, so nothing but its cookie says
 * that it started here. That cookie ends, whatever the result. The browser always goes on to the console, whatever the
 * address says.
 */
export function finishHandler(ports: ConsolePorts): Handler {
  return async ({ request }) => {
    const { provider, ...openId } = openIdPorts(ports)
    const returnedTo = new URL(openId.redirectUri)
    returnedTo.search = request.query
    const secure = isSecure(request, ports.site)
    const ended = endedSignInCookie(secure)
    try {
      const started = { secret: signInOf(request), returnedTo }
      const { text } = await finishOpenId(started, browserOf(request, ports), { provider, ...openId })
      return redirect('../', [sessionCookie(text, secure), ended])
    } catch (error) {
      return refused(error, ports, [ended])
    }
  }
}

/** Back to the console, with a reason that the page has a text for. Rethrows a fault. */
function refused(error: unknown, { onFailed }: ConsolePorts, cookies: readonly string[] = []): HttpReply {
  if (!(error instanceof GatewayError)) throw error
  onFailed(error)
  return redirect(`../#sign-in-error=${reasonOf(error)}`, cookies)
}

function openIdPorts(ports: ConsolePorts) {
  const { openId } = ports
  if (openId === undefined)
    throw new GatewayError('not_found', 'This gateway has no OpenID provider. Sign in with a password.')
  const { users, userSessions, newId, randomBytes, sha256, clock } = ports
  return { users, userSessions, newId, randomBytes, sha256, clock, ...openId }
}

function redirect(location: string, cookies: readonly string[]): HttpReply {
  const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', location }
  return { status: 302, headers, cookies, body: null }
}
