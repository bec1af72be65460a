import { adminPath, type Ask } from '../ask.ts'
import { readInput, STANDARD } from './catalog.ts'
import { secretText } from './key-secrets.ts'
import { bodyOf, limitLines, type LimitedReply, type LimitOptions } from './limits.ts'
import { table, type Outcome } from '../outcome.ts'

export type SecretReply = {
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
}

/** The options of a new key, beside its limits. */
export type KeyOptions = { readonly name?: string; readonly project?: string }

/** Creates a key. The output is only the key, so that a script can capture it. It is shown only once. */
export async function createKey(
  ask: Ask,
  { account, name, project, ...limits }: { readonly account: string } & KeyOptions & LimitOptions,
): Promise<Outcome> {
  const key = await ask<KeyReply & { readonly key: string }>({
    method: 'POST',
    path: adminPath('accounts', account, 'keys'),
    json: { name, project, ...bodyOf(limits) },
  })
  return {
    value: key,
    text: key.key,
    note: `The id of this key is ${key.id}. The key is not shown again, because only its hash is stored.`,
  }
}

/** Lists the keys of an account, including revoked ones, without their texts. */
export async function listKeys(ask: Ask, account: string): Promise<Outcome> {
  const { data } = await ask<{ readonly data: readonly KeyReply[] }>({
    method: 'GET',
    path: adminPath('accounts', account, 'keys'),
  })
  const rows = data.map(key => [
    `${key.prefix}…`,
    key.id,
    key.name,
    key.project ?? '–',
    key.created_at,
    stateOf(key),
  ])
  return {
    value: { data },
    text: data.length === 0 ? 'No keys.' : table(['KEY', 'ID', 'NAME', 'PROJECT', 'CREATED', 'STATE'], rows),
  }
}

type FoundKey = KeyReply & {
  /** The first characters of the secret that was asked for. */
  readonly found_secret: string | null
  readonly account: string | null
  readonly account_name: string | null
}

/** Shows the key with an id, first characters or a text, and its account. */
export async function showKey(ask: Ask, name: string): Promise<Outcome> {
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
    ['state', stateOf(key)],
    ...(key.secrets.length === 1 ? [] : [['secrets', key.secrets.map(secretText).join('; ')]]),
    ...(asked?.has_ended === true
      ? [['asked', `${secretText(asked)}, so requests with it are refused`]]
      : []),
    ['limits', limits.length === 0 ? 'none' : limits.join('; ')],
  ]
  return {
    value: { ...limited, ...key },
    text: lines.map(([word = '', value]) => `${word.padEnd(7)}  ${value}`).join('\n'),
  }
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
function stateOf({ revoked_at: revokedAt, secrets }: KeyReply): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`
  const ending = secrets.filter(({ ends_at: endsAt, has_ended: hasEnded }) => endsAt !== null && !hasEnded)
  return ['active', ...ending.map(secretText)].join('; ')
}
