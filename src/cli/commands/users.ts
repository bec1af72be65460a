import type { Role } from '../../domain/admin/user.ts'
import { adminPath, type Ask } from '../ask.ts'
import { table, type Outcome } from '../outcome.ts'
import { allPages } from './accounts.ts'

type UserReply = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly state: string
  readonly last_sign_in_at: string | null
}

type LinkReply = { readonly link: string; readonly link_expires_at: string; readonly mailed: boolean }

export type UserChanges = {
  readonly name?: string
  readonly role?: Role
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

/** Changes a user. A new role and disabling end all sessions of the user. */
export async function changeUser(ask: Ask, user: string, changes: UserChanges): Promise<Outcome> {
  const { name, role, grantsPerDay, disable, enable, removeTotp } = changes
  const changed = await ask<UserReply>({
    method: 'PATCH',
    path: adminPath('users', user),
    json: {
      name,
      role,
      grants_per_day_usd: grantsPerDay,
      disabled: disable ?? (enable === true ? false : undefined),
      has_totp: removeTotp === true ? false : undefined,
    },
  })
  const { email, id, state } = changed
  return { value: changed, text: `${email} (${id}) is ${changed.role}, ${state}.` }
}
