/** The users in the admin API. */
import { consoleCall } from '../../api/client.ts'
import type { Role, SessionRow } from '../../api/console-routes.ts'

export type ListedUser = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly state: 'active' | 'invited' | 'disabled'
  readonly has_totp: boolean
  readonly grants_per_day_usd: string | null
  readonly created_at: string
  readonly last_seen_at: string | null
}

/** The link is only in the reply that made it. */
export type WithLink = { readonly link: string; readonly is_mailed?: boolean }

type Change = Readonly<{ name?: string; role?: Role; grants_per_day_usd?: string | null; disabled?: boolean }>

const path = (id: string) => `admin/users/${encodeURIComponent(id)}`

export const usersApi = {
  list: () => consoleCall<{ readonly data: readonly ListedUser[] }>('GET', 'admin/users'),
  read: (id: string) => consoleCall<ListedUser>('GET', path(id)),
  invite: (input: { email: string; name: string; role: Role; grants_per_day_usd?: string }) =>
    consoleCall<ListedUser & WithLink>('POST', 'admin/users', input),
  change: (id: string, change: Change) => consoleCall<ListedUser>('PATCH', path(id), change),
  makeLink: (id: string) => consoleCall<WithLink>('POST', `${path(id)}/link`),
  sessions: (id: string) =>
    consoleCall<{ readonly data: readonly SessionRow[] }>('GET', `${path(id)}/sessions`),
  endSessions: (id: string) => consoleCall<undefined>('DELETE', `${path(id)}/sessions`),
}
