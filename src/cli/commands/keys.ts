import { adminPath, type Ask } from '../ask.ts'
import { table, type Outcome } from '../outcome.ts'

type KeyReply = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly revoked_at: string | null
}

/** Makes a key. Its text is all of the result, so that a script can catch it; it is shown this once. */
export async function createKey(
  ask: Ask,
  { account, name }: { readonly account: string; readonly name: string | undefined },
): Promise<Outcome> {
  const key = await ask<KeyReply & { readonly key: string }>({
    method: 'POST',
    path: adminPath('accounts', account, 'keys'),
    json: name === undefined ? {} : { name },
  })
  return {
    value: key,
    text: key.key,
    note: `This is ${key.id}. It is not shown again: only its hash is kept.`,
  }
}

/** The keys of an account, revoked ones too, without their texts. */
export async function listKeys(ask: Ask, account: string): Promise<Outcome> {
  const { data } = await ask<{ readonly data: readonly KeyReply[] }>({
    method: 'GET',
    path: adminPath('accounts', account, 'keys'),
  })
  const rows = data.map(key => [
    `${key.prefix}…`,
    key.id,
    key.name,
    key.created_at,
    key.revoked_at === null ? 'works' : `revoked ${key.revoked_at}`,
  ])
  return {
    value: { data },
    text: data.length === 0 ? 'No keys.' : table(['KEY', 'ID', 'NAME', 'CREATED', 'STATE'], rows),
  }
}

/** Revokes a key from the next request on. Repeating it changes nothing. */
export async function revokeKey(ask: Ask, keyId: string): Promise<Outcome> {
  const key = await ask<KeyReply>({ method: 'POST', path: adminPath('keys', keyId, 'revoke') })
  return { value: key, text: `Revoked ${key.prefix}… (${key.id}). Requests with it are refused from now on.` }
}
