import { isOperatorStaff, type Role, type User, type UserPatch } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import { formatUsd, type NanoUsd } from '../../../domain/money.ts'
import type { Users } from '../../ports/access/users.ts'
import { CREDIT_MAX } from '../accounts/credit-account.ts'
import { auditOf, type Actor } from '../operator.ts'
import { checkedEmail, checkedUserName, makeUserLink, type LinkPorts, type NewLink } from './links.ts'

type UserPorts = LinkPorts & { readonly users: Users; readonly newId: () => Id }

/**
 * Creates a user, who sets a password with the link or signs in at the OpenID provider. The name is the e-mail address
 * until the user says another one. Throws `invalid_field`, and `already_exists` for an address that a user has.
 */
export async function inviteUser(
  request: {
    readonly email: string
    readonly name: string | undefined
    readonly role: Role
    readonly grantsPerDay: NanoUsd | null
    readonly actor: Actor
  },
  ports: UserPorts,
): Promise<{ readonly user: User; readonly link: NewLink }> {
  const { role, grantsPerDay, actor } = request
  const email = checkedEmail(request.email)
  const name = checkedUserName(request.name ?? email)
  checkGrants(role, grantsPerDay)
  const publicId = formatId('usr', ports.newId())
  const change = { actor, action: 'user.create', subject: publicId, detail: `${role} ${email}` }
  const audit = auditOf(change, ports.clock)
  const user = await ports.users.create({ publicId, email, name, role, accountId: null, grantsPerDay, audit })
  return { user, link: await makeUserLink(user, actor, ports) }
}

/**
 * Changes a user. Another role than `support` has no limit of grants. Throws `invalid_field`, and `last_owner` if no
 * owner who can sign in would be left.
 */
export async function changeUser(
  user: User,
  patch: UserPatch,
  actor: Actor,
  { users, clock }: Pick<UserPorts, 'users' | 'clock'>,
): Promise<User> {
  const role = patch.role ?? user.role
  const kept = role === 'support' ? user.grantsPerDay : null
  const grantsPerDay = patch.grantsPerDay === undefined ? kept : patch.grantsPerDay
  checkGrants(role, grantsPerDay)
  const named = patch.name === undefined ? {} : { name: checkedUserName(patch.name) }
  return users.change(user.publicId, { ...patch, ...named, grantsPerDay }, { actor, atMs: clock.now() })
}

/** Finds a user by id or e-mail address. Throws `not_found`. The users of customers' accounts are not among these. */
export async function findUser(asked: string, { users }: Pick<UserPorts, 'users'>): Promise<User> {
  const text = asked.trim()
  const user = await users.find(text.startsWith('usr_') ? { publicId: text } : { email: text.toLowerCase() })
  if (user !== undefined && isOperatorStaff(user)) return user
  throw new GatewayError(
    'not_found',
    'There is no such user. A user is found by its id (usr_…) or e-mail address.',
  )
}

function checkGrants(role: Role, grantsPerDay: NanoUsd | null): void {
  if (grantsPerDay === null) return
  const problem =
    role !== 'support'
      ? 'needs the role "support": other roles have no such limit'
      : grantsPerDay <= 0n || grantsPerDay > CREDIT_MAX
        ? `must be above 0 and at most ${formatUsd(CREDIT_MAX)}`
        : undefined
  if (problem !== undefined)
    throw new GatewayError('invalid_field', `"grants_per_day_usd" ${problem}.`, {
      param: 'grants_per_day_usd',
    })
}
