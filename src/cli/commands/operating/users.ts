import type { Role } from '../../../domain/admin/user.ts'
import { adminPath, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { allPages } from '../accounts/accounts.ts'

type UserReply = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly state: string
  readonly grants_per_day_usd: string | null
  readonly granted_today_usd: string | null
  readonly has_password: boolean
  readonly has_totp: boolean
  readonly has_oidc: boolean
  readonly created_by: string
  readonly created_at: string
  readonly last_sign_in_at: string | null
  readonly disabled_at: string | null
}

type SessionReply = {
  readonly id: string
  readonly address: string
  readonly user_agent: string
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
}

type LinkReply = { readonly link: string; readonly link_expires_at: string; readonly mailed: boolean }

export type UserChanges = {
  readonly name?: string
  readonly role?: Role
  /** `none` removes the limit, so that the user gives no grants. */
  readonly grantsPerDay?: string
  readonly disable?: true
  readonly enable?: true
  readonly removeTotp?: true
}

/** Invites a user. The output is only the link, so that a script can capture it. */
export async function inviteUser(
  ask: Ask,
  user: {
    readonly email: string
    readonly name?: string
    readonly role: Role
    readonly grantsPerDay?: string
  },
): Promise<Outcome> {
  const { email, name, role, grantsPerDay } = user
  const json = { email, name, role, grants_per_day_usd: grantsPerDay }
  return linkOutcome(email, await ask<LinkReply>({ method: 'POST', path: 'users', json }))
}

/** Makes a link with which a user sets a password. */
export async function makeUserLink(ask: Ask, user: string): Promise<Outcome> {
  return linkOutcome(user, await ask<LinkReply>({ method: 'POST', path: adminPath('users', user, 'link') }))
}

function linkOutcome(user: string, reply: LinkReply): Outcome {
  const sent = reply.mailed ? 'It was also sent by e-mail.' : 'Send it over a safe channel.'
  return {
    value: reply,
    text: reply.link,
    note: `With this link, ${user} sets a password. It works once, until ${reply.link_expires_at}. ${sent}`,
  }
}

export async function listUsers(ask: Ask): Promise<Outcome> {
  const data = await allPages<UserReply>(ask, 'users')
  const rows = data.map(({ email, id, name, role, state, last_sign_in_at: at }) => [
    email,
    id,
    name,
    role,
    state,
    at ?? 'never',
  ])
  const head = ['E-MAIL', 'ID', 'NAME', 'ROLE', 'STATE', 'LAST SIGN-IN']
  return { value: { data }, text: data.length === 0 ? 'No users.' : table(head, rows) }
}

/** Shows one user. */
export async function showUser(ask: Ask, name: string): Promise<Outcome> {
  const user = await ask<UserReply>({ method: 'GET', path: adminPath('users', name) })
  const grants =
    user.grants_per_day_usd === null
      ? 'none'
      : `${user.grants_per_day_usd} USD, of which ${user.granted_today_usd ?? '0'} USD are given today`
  const ways = [user.has_password && 'password', user.has_totp && 'one-time code', user.has_oidc && 'OpenID']
  const lines = [
    ['e-mail', user.email],
    ['id', user.id],
    ['name', user.name],
    ['role', user.role],
    ['state', user.state],
    ...(user.role === 'support' ? [['grants a day', grants]] : []),
    ['signs in with', ways.filter(way => way !== false).join(', ') || 'nothing yet'],
    ['created', `${user.created_at} by ${user.created_by}`],
    ['last sign-in', user.last_sign_in_at ?? 'never'],
    ...(user.disabled_at === null ? [] : [['disabled', user.disabled_at]]),
  ]
  return { value: user, text: lines.map(([word = '', value]) => `${word.padEnd(13)}  ${value}`).join('\n') }
}

/** Lists where a user is signed in, latest sign-in first. */
export async function listUserSessions(ask: Ask, user: string): Promise<Outcome> {
  const path = adminPath('users', user, 'sessions')
  const reply = await ask<{ readonly data: readonly SessionReply[] }>({ method: 'GET', path })
  const rows = reply.data.map(session => [
    session.id,
    session.address,
    session.created_at,
    session.last_used_at,
    session.expires_at,
    session.user_agent,
  ])
  const head = ['ID', 'ADDRESS', 'SIGNED IN', 'LAST USED', 'ENDS', 'BROWSER']
  return { value: reply, text: rows.length === 0 ? `${user} is not signed in.` : table(head, rows) }
}

/** Ends all sessions of a user, and the links that were sent. Repeating it changes nothing. */
export async function signUserOut(ask: Ask, user: string): Promise<Outcome> {
  const path = adminPath('users', user, 'sessions')
  const reply = await ask<{ readonly ended: number }>({ method: 'DELETE', path })
  return { value: reply, text: `${user} is signed out everywhere. Sessions that ended: ${reply.ended}.` }
}

/** Changes a user. A new role and disabling end all sessions of the user. */
export async function changeUser(ask: Ask, user: string, changes: UserChanges): Promise<Outcome> {
  const { name, role, grantsPerDay, disable, enable, removeTotp } = changes
  const changed = await ask<UserReply>({
    method: 'PATCH',
    path: adminPath('users', user),
    json: {
      name,
      role,
      grants_per_day_usd: grantsPerDay === 'none' ? null : grantsPerDay,
      disabled: disable ?? (enable === true ? false : undefined),
      has_totp: removeTotp === true ? false : undefined,
    },
  })
  const { email, id, state } = changed
  return { value: changed, text: `${email} (${id}) is ${changed.role}, ${state}.` }
}
