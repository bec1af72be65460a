/** Who is signed in. */
import { signal } from '@preact/signals'
import { ApiError, keepCsrfToken, whenSignedOut } from './api/client.ts'
import { consoleApi, type Role, type Session } from './api/console-routes.ts'

type State =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signed_out'; readonly hasEnded: boolean }
  | { readonly kind: 'signed_in'; readonly session: Session }
  | { readonly kind: 'unreachable'; readonly error: Error }

export const session = signal<State>({ kind: 'unknown' })

whenSignedOut(() => {
  if (session.value.kind === 'signed_in') leave(true)
})

/** Reads the session of the cookie. */
export async function readSession(): Promise<void> {
  try {
    enter(await consoleApi.session())
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) leave(false)
    else session.value = { kind: 'unreachable', error: error as Error }
  }
}

export function enter(entered: Session): void {
  keepCsrfToken(entered.csrf_token)
  session.value = { kind: 'signed_in', session: entered }
}

/** Shows what somebody changed about the signed-in user. */
export function changeOwn(id: string, changed: Partial<Pick<Session['user'], 'name'>>): void {
  const { value } = session
  if (value.kind !== 'signed_in' || value.session.user.id !== id) return
  session.value = { ...value, session: { ...value.session, user: { ...value.session.user, ...changed } } }
}

/** `hasEnded` says so on the sign-in page. */
export function leave(hasEnded: boolean): void {
  keepCsrfToken(undefined)
  session.value = { kind: 'signed_out', hasEnded }
}

/** The signed-in user. Throws on the pages before sign-in. */
export function currentUser(): Session['user'] {
  if (session.value.kind !== 'signed_in') throw new Error('Nobody is signed in.')
  return session.value.session.user
}

export function hasRole(...roles: readonly Role[]): boolean {
  return roles.includes(currentUser().role)
}

/** Whether the user may grant credit. Support may not without a limit, as the gateway says too. */
export function mayGrant(): boolean {
  const { role, grants_per_day_usd: perDay } = currentUser()
  return mayOperate() || (role === 'support' && perDay !== null)
}

/** Whether the user may change something beside users, tokens and providers. */
export function mayOperate(): boolean {
  return hasRole('owner', 'operator')
}
