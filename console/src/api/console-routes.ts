/** The console's own routes below `<console>/api/`, which no OpenAPI document describes: sign-in, and one's own profile. */
import { consoleCall } from './client.ts'

export type Role = 'owner' | 'operator' | 'support' | 'viewer'

export type User = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly has_totp: boolean
  readonly has_password: boolean
  readonly grants_per_day_usd: string | null
  /** On the current day in UTC. Null without a limit. */
  readonly granted_today_usd: string | null
}

export type Session = { readonly user: User; readonly csrf_token: string; readonly expires_at: string }

export type SignInOptions = {
  readonly password: boolean
  readonly oidc: { readonly name: string } | null
  readonly mail: boolean
  readonly product: string
  /** False before the first owner has used the link that the start of the gateway prints. */
  readonly has_users: boolean
}

export type SessionRow = {
  readonly id: string
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
  readonly address: string
  readonly user_agent: string
  /** Absent for the sessions of others. */
  readonly current?: boolean
}

export type Link = {
  readonly kind: 'first' | 'invitation' | 'reset'
  readonly email: string | null
  readonly name: string | null
  readonly role: Role
  readonly expires_at: string
}

export const consoleApi = {
  session: () => consoleCall<Session>('GET', 'session'),
  signIn: (input: { email: string; password: string; code?: string }) =>
    consoleCall<Session>('POST', 'session', input),
  signOut: () => consoleCall<undefined>('DELETE', 'session'),
  signInOptions: () => consoleCall<SignInOptions>('GET', 'sign-in'),
  sessions: () => consoleCall<{ readonly data: readonly SessionRow[] }>('GET', 'sessions'),
  /** This browser is signed out too. */
  signOutEverywhere: () => consoleCall<undefined>('DELETE', 'sessions'),
  endSession: (id: string) => consoleCall<undefined>('DELETE', `sessions/${encodeURIComponent(id)}`),
  // The token is in the body, because addresses are logged.
  link: (token: string) => consoleCall<Link>('POST', 'link', { token }),
  useLink: (token: string, input: { name?: string; email?: string; password: string; code?: string }) =>
    consoleCall<Session>('PUT', 'link', { token, ...input }),
  askForReset: (email: string) => consoleCall<undefined>('POST', 'resets', { email }),
  /** All sessions end, and this browser gets a new one. */
  changePassword: (input: { current: string; new: string }) =>
    consoleCall<Session>('POST', 'password', input),
  // Users without a password need a fresh sign-in instead.
  beginTotp: (password?: string) =>
    consoleCall<{ readonly secret: string; readonly uri: string }>('POST', 'totp', { password }),
  confirmTotp: (code: string) => consoleCall<undefined>('PUT', 'totp', { code }),
  removeTotp: (password?: string) => consoleCall<Session>('DELETE', 'totp', { password }),
}
