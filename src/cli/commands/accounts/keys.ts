import { adminPath, type Ask } from '../../ask.ts'
import { allPages } from './accounts.ts'
import { readInput, STANDARD } from '../catalog/catalog.ts'
import { limitLines, type LimitedReply } from './limits.ts'
import { table, warned, type Outcome, type Warned } from '../../outcome.ts'

type SecretReply = {
  readonly prefix: string
  readonly ends_at: string | null
  readonly has_ended: boolean
}

export type KeyReply = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  /** The id of its project. */
  readonly project: string | null
  /** The newest first. */
  readonly secrets: readonly SecretReply[]
  readonly created_at: string
  readonly revoked_at: string | null
  readonly disabled_at: string | null
  readonly expires_at: string | null
  readonly models: readonly string[] | null
  readonly routes: readonly string[] | null
  readonly allowed_addresses: readonly string[] | null
  readonly last_used_on: string | null
}

/** What a key may use, in the fields of the admin API. Null removes a restriction. */
export type KeyOptions = Partial<Pick<KeyReply, 'expires_at' | 'models' | 'routes' | 'allowed_addresses'>> & {
  readonly name?: string | undefined
  readonly project?: string | undefined
}

/** Creates a key. The output is only the key, so that a script can capture it. It is shown only once. */
export async function createKey(
  ask: Ask,
  { account, fields }: { readonly account: string; readonly fields: KeyOptions },
): Promise<Outcome> {
  const key = await ask<KeyReply & Warned & { readonly key: string }>({
    method: 'POST',
    path: adminPath('accounts', account, 'keys'),
    json: fields,
  })
  return {
    value: key,
    text: key.key,
    ...warned(
      key,
      `The id of this key is ${key.id}. The key is not shown again, because only its hash is stored.`,
    ),
  }
}

const KEY_COLUMNS = ['KEY', 'ID', 'NAME', 'PROJECT', 'CREATED', 'EXPIRES', 'LAST USED', 'STATE']

/** Lists the keys of an account or of all accounts, including revoked ones, without their texts. */
export async function listKeys(ask: Ask, account: string | undefined, nowMs: number): Promise<Outcome> {
  if (account === undefined) return listAllKeys(ask, nowMs)
  const { data } = await ask<{ readonly data: readonly KeyReply[] }>({
    method: 'GET',
    path: adminPath('accounts', account, 'keys'),
  })
  return keyTable(KEY_COLUMNS, data, key => rowOf(key, nowMs))
}

async function listAllKeys(ask: Ask, nowMs: number): Promise<Outcome> {
  const keys = await allPages<OwnedKeyReply>(ask, 'keys')
  const rowWithOwner = (key: OwnedKeyReply) => [key.account_name ?? '–', ...rowOf(key, nowMs)]
  return keyTable(['ACCOUNT', ...KEY_COLUMNS], keys, rowWithOwner)
}

function keyTable<Key>(head: readonly string[], keys: readonly Key[], row: (key: Key) => string[]): Outcome {
  return { value: { data: keys }, text: keys.length === 0 ? 'No keys.' : table(head, keys.map(row)) }
}

function rowOf(key: KeyReply, nowMs: number): string[] {
  return [
    `${key.prefix}…`,
    key.id,
    key.name,
    key.project ?? '–',
    key.created_at,
    key.expires_at ?? '–',
    key.last_used_on ?? '–',
    stateOf(key, nowMs),
  ]
}

type OwnedKeyReply = KeyReply & { readonly account: string | null; readonly account_name: string | null }

type FoundKey = OwnedKeyReply & {
  /** The first characters of the secret that was asked for. */
  readonly found_secret: string | null
}

/** Shows the key with an id, first characters or a text, its account, and what it may use. */
export async function showKey(ask: Ask, name: string, nowMs: number): Promise<Outcome & { value: object }> {
  const key = await findKey(ask, name)
  const limited = await ask<LimitedReply>({ method: 'GET', path: adminPath('keys', key.id) })
  const limits = limitLines(limited)
  const asked = key.secrets.find(({ prefix }) => prefix === key.found_secret)
  const lines = [
    ['key', `${key.prefix}…`],
    ['id', key.id],
    ['name', key.name],
    ['account', `${key.account_name ?? '–'} (${key.account ?? '–'})`],
    ['project', key.project ?? 'none'],
    ['created', key.created_at],
    ['expires', key.expires_at ?? 'never'],
    ['used', key.last_used_on === null ? 'never' : `last on ${key.last_used_on}`],
    ['state', stateOf(key, nowMs)],
    ...(key.secrets.length === 1 ? [] : [['secrets', key.secrets.map(secretText).join('; ')]]),
    ...(asked?.has_ended === true
      ? [['asked', `${secretText(asked)}, so requests with it are refused`]]
      : []),
    ['models', key.models?.join(', ') ?? 'all'],
    ['routes', key.routes?.join(', ') ?? 'all'],
    ['from', key.allowed_addresses?.join(', ') ?? 'all addresses'],
    ['limits', limits.length === 0 ? 'none' : limits.join('; ')],
  ]
  return {
    value: { ...limited, ...key },
    text: lines.map(([word = '', value]) => `${word.padEnd(7)}  ${value}`).join('\n'),
  }
}

/** Changes what a key may use, in one step, and shows it. */
export async function setKey(
  ask: Ask,
  { key: name, fields }: { readonly key: string; readonly fields: KeyOptions },
  nowMs: number,
): Promise<Outcome> {
  const { id } = await findKey(ask, name)
  const changed = await ask<Warned>({ method: 'PATCH', path: adminPath('keys', id), json: fields })
  const { value, text } = await showKey(ask, id, nowMs)
  return { value: { ...value, warnings: changed.warnings ?? [] }, text, ...warned(changed) }
}

/** Gives a key another name. */
export async function renameKey(
  ask: Ask,
  { key: named, name }: { readonly key: string; readonly name: string },
): Promise<Outcome> {
  const { id } = await findKey(ask, named)
  const key = await ask<KeyReply>({ method: 'PATCH', path: adminPath('keys', id), json: { name } })
  return { value: key, text: `The key ${id} is now named ${key.name}.` }
}

/** Disables a key, or enables it again. Repeating it changes nothing. */
export async function switchKey(
  ask: Ask,
  { key: name, isDisabled }: { readonly key: string; readonly isDisabled: boolean },
  nowMs: number,
): Promise<Outcome> {
  const { id } = await findKey(ask, name)
  const json = { disabled: isDisabled }
  const key = await ask<KeyReply>({ method: 'PATCH', path: adminPath('keys', id), json })
  const text = isDisabled
    ? `Disabled ${key.prefix}… (${id}). Requests with this key are now refused.`
    : `Enabled ${key.prefix}… (${id}). Its state is: ${stateOf(key, nowMs)}.`
  return { value: key, text }
}

/** Revokes a key with effect from the next request. Repeating it changes nothing. */
export async function revokeKey(ask: Ask, name: string): Promise<Outcome> {
  const { id } = await findKey(ask, name)
  const key = await ask<KeyReply>({ method: 'POST', path: adminPath('keys', id, 'revoke') })
  return { value: key, text: `Revoked ${key.prefix}… (${key.id}). Requests with this key are now refused.` }
}

/**
 * Finds a key. Its name is in the body, because it can be the text of a key, and paths get into logs. The name `-` is
 * read from standard input, because arguments get into the history of the shell.
 */
export function findKey(ask: Ask, name: string): Promise<FoundKey> {
  const key = name === STANDARD ? readInput(name) : name
  return ask<FoundKey>({ method: 'POST', path: 'keys/find', json: { key } })
}

/** Whether a key works, and the end of the secret before its current one as long as it works. */
function stateOf(key: KeyReply, nowMs: number): string {
  const { revoked_at: revokedAt, disabled_at: disabledAt, expires_at: expiresAt, secrets } = key
  if (revokedAt !== null) return `revoked ${revokedAt}`
  if (disabledAt !== null) return `disabled ${disabledAt}`
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) return 'expired'
  const ending = secrets.filter(({ ends_at: endsAt, has_ended: hasEnded }) => endsAt !== null && !hasEnded)
  return ['active', ...ending.map(secretText)].join('; ')
}

/** A secret with its end: `tg_live_Ab3d… ends 2026-11-22T08:00:00.000Z`. */
export function secretText({ prefix, ends_at: endsAt, has_ended: hasEnded }: SecretReply): string {
  if (endsAt === null) return `${prefix}…`
  return `${prefix}… ${hasEnded ? 'ended' : 'ends'} ${endsAt}`
}
