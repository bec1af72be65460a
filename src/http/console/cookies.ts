import { SESSION_MS } from '../../domain/admin/user.ts'
import type { IncomingRequest } from '../incoming-request.ts'

const MS_PER_S = 1000

/** The cookie of a signed-in browser. */
const SESSION = 'tollgate_session'

/** The text of a cookie of a request. Undefined if it has none. */
export function cookieOf(request: Pick<IncomingRequest, 'header'>, name = SESSION): string | undefined {
  // A proxy may have split the header, and repeated ones are joined by commas.
  for (const pair of (request.header('cookie') ?? '').split(/[;,]/)) {
    const [key, value] = pair.split('=', 2)
    if (key?.trim() === name && value !== undefined) return value.trim()
  }
  return undefined
}

/** Scripts cannot read the cookie, and other sites' pages do not send it with what they change. */
export function sessionCookie(text: string, isSecure: boolean): string {
  return cookie(SESSION, { text, ageMs: SESSION_MS, isSecure })
}

/** Removes the cookie. */
export function endedCookie(isSecure: boolean): string {
  return cookie(SESSION, { text: '', ageMs: 0, isSecure })
}

/** Without a path, so that the browser takes the folder of the URL that it called, with the prefix of a proxy. */
export function cookie(
  name: string,
  { text, ageMs, isSecure }: { readonly text: string; readonly ageMs: number; readonly isSecure: boolean },
): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${text}; Max-Age=${Math.floor(ageMs / MS_PER_S)}; HttpOnly; SameSite=Lax${secure}`
}
