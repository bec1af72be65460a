import { SESSION_MS } from '../../domain/admin/user.ts'
import type { IncomingRequest } from '../incoming-request.ts'

const MS_PER_S = 1000

/** The cookie of a signed-in browser. */
const SESSION = 'tollgate_session'
/** The cookie of a browser that is at the OpenID provider. */
const SIGN_IN = 'tollgate_sign_in'
/** A person has this long to sign in at the provider. */
const SIGN_IN_MS = 600_000

/** The text of the session's cookie. Undefined if a request has none. */
export function sessionOf(request: CookieRequest): string | undefined {
  return cookieOf(request, SESSION)
}

/** The secret of a sign-in at the OpenID provider. Undefined if the browser has started none. */
export function signInOf(request: CookieRequest): string | undefined {
  return cookieOf(request, SIGN_IN)
}

type CookieRequest = Pick<IncomingRequest, 'header'>

function cookieOf(request: CookieRequest, name: string): string | undefined {
  // A proxy may have split the header, and repeated ones are joined by commas.
  for (const pair of (request.header('cookie') ?? '').split(/[;,]/)) {
    const [key, value] = pair.split('=', 2)
    if (key?.trim() === name && value !== undefined) return value.trim()
  }
  return undefined
}

export function sessionCookie(text: string, isSecure: boolean): string {
  return cookie(SESSION, { text, ageMs: SESSION_MS, isSecure })
}

export function signInCookie(secret: string, isSecure: boolean): string {
  return cookie(SIGN_IN, { text: secret, ageMs: SIGN_IN_MS, isSecure })
}

/** Removes the cookie of the session. */
export function endedSessionCookie(isSecure: boolean): string {
  return cookie(SESSION, { text: '', ageMs: 0, isSecure })
}

/** Removes the cookie of a sign-in at the provider. */
export function endedSignInCookie(isSecure: boolean): string {
  return cookie(SIGN_IN, { text: '', ageMs: 0, isSecure })
}

/**
 * Scripts cannot read a cookie, and other sites' pages do not send it with what they change. It has no path, so that
 * the browser takes the folder of the URL that it called, with the prefix of a proxy.
 */
function cookie(
  name: string,
  { text, ageMs, isSecure }: { readonly text: string; readonly ageMs: number; readonly isSecure: boolean },
): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${text}; Max-Age=${Math.floor(ageMs / MS_PER_S)}; HttpOnly; SameSite=Lax${secure}`
}
