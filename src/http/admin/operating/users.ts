import { currentDay } from '../../../domain/admin/admin-token.ts'
import {
  roles,
  sessionEndsAtMs,
  userState,
  type Role,
  type Session,
  type User,
} from '../../../domain/admin/user.ts'
import { formatUsd, type NanoUsd } from '../../../domain/money.ts'
import { instant } from '../../../domain/time.ts'
import { changeUser, findUser, inviteUser } from '../../../gateway/admin/users/change-user.ts'
import { makeUserLink, type NewLink } from '../../../gateway/admin/users/links.ts'
import { mailLink } from '../../../gateway/admin/users/mail-link.ts'
import type { BufferedReply } from '../../request-context.ts'
import {
  flagField,
  optionalTextField,
  readFields,
  refuseEmpty,
  textField,
  wrongField,
  type Fields,
} from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import { optionalUsdField } from '../money-fields.ts'
import type { OperatingPorts } from '../ports.ts'
import { readAdminPage } from '../query.ts'

/** Invites a user. Only this reply and that of `users/{user}/link` have a link. */
export async function postUser({ request, actor }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['email', 'name', 'role', 'grants_per_day_usd'])
  const { user, link } = await inviteUser(
    {
      email: textField(fields, 'email', 'an e-mail address'),
      name: optionalTextField(fields, 'name', 'the name of a person'),
      role: roleField(fields) ?? missingRole(),
      grantsPerDay: grantsField(fields) ?? null,
      actor,
    },
    ports,
  )
  const mailed = await mailLink(user, link, ports)
  return adminReply({ ...(await userBody(user, ports)), ...linkBody(link), mailed })
}

/** One page of users, oldest first, including disabled ones. */
export async function listUsers({ query }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query)
  const { users, next } = await ports.users.list({ limit, ...(cursor === undefined ? {} : { cursor }) })
  return adminReply({
    data: await Promise.all(users.map(user => userBody(user, ports))),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

export async function getUser({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  return adminReply(await userBody(await findUser(params['user'] ?? '', ports), ports))
}

const PATCHED = ['name', 'role', 'grants_per_day_usd', 'disabled', 'has_totp'] as const

/** Changes a user. A new role or limit, disabling, and switching one-time codes off end all sessions of the user. */
export async function patchUser(
  { request, params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, PATCHED)
  refuseEmpty(fields, PATCHED)
  const name = optionalTextField(fields, 'name', 'the name of a person')
  const role = roleField(fields)
  const grantsPerDay = grantsField(fields)
  const patch = {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...('grants_per_day_usd' in fields ? { grantsPerDay: grantsPerDay ?? null } : {}),
    ...('disabled' in fields ? { isDisabled: flagField(fields, 'disabled') } : {}),
    ...('has_totp' in fields ? { hasTotp: offField(fields, 'has_totp') } : {}),
  }
  const user = await findUser(params['user'] ?? '', ports)
  const changed = await changeUser(user, patch, actor, ports)
  return adminReply(await userBody(changed, ports))
}

/** An amount above zero, which may be absent. */
function grantsField(fields: Fields): NanoUsd | undefined {
  const grants = optionalUsdField(fields, 'grants_per_day_usd')
  if (grants !== undefined && grants <= 0n) throw wrongField('grants_per_day_usd', 'must be above 0')
  return grants
}

/** Makes a link with which the user sets a password. It replaces earlier ones. */
export async function postUserLink(
  { params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const user = await findUser(params['user'] ?? '', ports)
  const link = await makeUserLink(user, actor, ports)
  return adminReply({ ...linkBody(link), mailed: await mailLink(user, link, ports) })
}

export async function listUserSessions({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const { id } = await findUser(params['user'] ?? '', ports)
  const sessions = await ports.userSessions.list(id, ports.clock.now())
  return adminReply({ data: sessions.map(sessionRow) })
}

/** Signs the user out everywhere. Repeating it changes nothing. */
export async function deleteUserSessions(
  { params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const user = await findUser(params['user'] ?? '', ports)
  const ended = await ports.userSessions.endAll(user, { actor, atMs: ports.clock.now() })
  return adminReply({ ended })
}

/** A session as lists show it. */
export function sessionRow(session: Session): object {
  const { publicId, address, userAgent, createdAtMs, usedAtMs } = session
  return {
    id: publicId,
    address,
    user_agent: userAgent,
    created_at: instant(createdAtMs),
    last_used_at: instant(usedAtMs),
    expires_at: instant(sessionEndsAtMs(session)),
  }
}

async function userBody(user: User, { users, clock }: OperatingPorts): Promise<object> {
  const { grantsPerDay, signedInAtMs, disabledAtMs } = user
  const today = grantsPerDay === null ? undefined : currentDay(await users.latestGrants(user.id), clock.now())
  return {
    id: user.publicId,
    email: user.email,
    name: user.name,
    role: user.role,
    state: userState(user),
    grants_per_day_usd: grantsPerDay === null ? null : formatUsd(grantsPerDay),
    granted_today_usd: today === undefined ? null : formatUsd(today.granted),
    has_password: user.hasPassword,
    has_totp: user.hasTotp,
    has_oidc: user.identity !== null,
    created_by: user.createdBy,
    created_at: instant(user.createdAtMs),
    last_sign_in_at: signedInAtMs === null ? null : instant(signedInAtMs),
    disabled_at: disabledAtMs === null ? null : instant(disabledAtMs),
  }
}

function linkBody({ url, expiresAtMs }: NewLink): object {
  return { link: url, link_expires_at: instant(expiresAtMs) }
}

function roleField(fields: Fields): Role | undefined {
  const word = fields['role'] ?? undefined
  if (word === undefined) return undefined
  return roles.find(role => role === word) ?? wrongRole()
}

function wrongRole(): never {
  throw wrongField('role', `must be one of ${roles.join(', ')}`)
}

function missingRole(): never {
  throw wrongField('role', `is missing; it must be one of ${roles.join(', ')}`)
}

/** A member that may only be false. */
function offField(fields: Fields, name: string): false {
  if (flagField(fields, name))
    throw wrongField(name, 'can only be set to false: users switch codes on themselves')
  return false
}
