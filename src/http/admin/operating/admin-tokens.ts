import {
  adminScopes,
  currentDay,
  tokenProblem,
  type AdminScope,
  type AdminToken,
} from '../../../domain/admin/admin-token.ts'
import { formatUsd } from '../../../domain/money.ts'
import { MS_PER_DAY, instant } from '../../../domain/time.ts'
import { createAdminToken } from '../../../gateway/admin/tokens/create-admin-token.ts'
import { findAdminToken } from '../../../gateway/admin/tokens/find-admin-token.ts'
import { readTime } from '../../list-query.ts'
import type { BufferedReply } from '../../request-context.ts'
import { optionalTextField, readFields, textField, wrongField, type Fields } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { OperatingPorts } from '../ports.ts'
import { optionalUsdField } from '../money-fields.ts'
import { readAdminPage } from '../query.ts'

/** Creates a token with at most the rights of its creator. Only this reply has its text. */
export async function postToken(
  { request, actor, rights: own }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['name', 'scopes', 'grants_per_day_usd', 'expires_at'])
  const name = textField(fields, 'name', 'the name of the token')
  const expiresAt = optionalTextField(fields, 'expires_at', 'a time in RFC 3339')
  const rights = {
    scopes: scopesField(fields),
    grantsPerDay: optionalUsdField(fields, 'grants_per_day_usd') ?? null,
    expiresAtMs: expiresAt === undefined ? null : readTime('expires_at', expiresAt),
  }
  const { token, text } = await createAdminToken({ name, rights, creator: { actor, rights: own } }, ports)
  return adminReply({ ...(await tokenBody(token, ports)), token: text })
}

/** One page of tokens, oldest first, including expired and revoked ones, without their texts. */
export async function listTokens({ query }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query)
  const { tokens, next } = await ports.adminTokens.list({
    limit,
    ...(cursor === undefined ? {} : { cursor }),
  })
  return adminReply({
    data: await Promise.all(tokens.map(token => tokenBody(token, ports))),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** One token, without its text. */
export async function getToken({ params }: AdminCall, ports: OperatingPorts): Promise<BufferedReply> {
  return adminReply(await tokenBody(await findAdminToken(params['token'] ?? '', ports), ports))
}

/** Revokes a token. Repeating it changes nothing. */
export async function deleteToken(
  { params, actor }: AdminCall,
  ports: OperatingPorts,
): Promise<BufferedReply> {
  const { publicId } = await findAdminToken(params['token'] ?? '', ports)
  const token = await ports.adminTokens.revoke(publicId, { actor, atMs: ports.clock.now() })
  return adminReply(await tokenBody(token, ports))
}

function scopesField({ scopes }: Fields): readonly AdminScope[] {
  const expected = `must be a list of ${adminScopes.join(', ')}`
  if (!Array.isArray(scopes)) throw wrongField('scopes', expected)
  return scopes.map((word: unknown) => {
    const scope = adminScopes.find(known => known === word)
    if (scope === undefined) throw wrongField('scopes', expected)
    return scope
  })
}

async function tokenBody(token: AdminToken, { adminTokens, clock }: OperatingPorts): Promise<object> {
  const { grantsPerDay, lastUsedDay } = token
  const today =
    grantsPerDay === null ? undefined : currentDay(await adminTokens.latestGrants(token.id), clock.now())
  return {
    id: token.publicId,
    name: token.name,
    prefix: token.prefix,
    scopes: token.scopes,
    grants_per_day_usd: grantsPerDay === null ? null : formatUsd(grantsPerDay),
    granted_today_usd: today === undefined ? null : formatUsd(today.granted),
    created_by: token.createdBy,
    created_at: instant(token.createdAtMs),
    expires_at: token.expiresAtMs === null ? null : instant(token.expiresAtMs),
    last_used_on: lastUsedDay === null ? null : instant(lastUsedDay * MS_PER_DAY).slice(0, DATE_LENGTH),
    revoked_at: token.revokedAtMs === null ? null : instant(token.revokedAtMs),
    state: tokenProblem(token, clock.now()) ?? 'active',
  }
}

const DATE_LENGTH = 10
