import { adminPath, type Ask } from '../../ask.ts'
import type { Outcome } from '../../outcome.ts'
import { findKey, secretText, type KeyReply } from './keys.ts'

/** When the old secret ends, in the form of the admin API. */
export type OldEnd = { readonly old_ends_in: number } | { readonly old_ends_at: string }

/** Gives a key a new secret. The output is only the text of the secret, so that a script can capture it. */
export async function rotateKey(
  ask: Ask,
  { name, oldEnd }: { readonly name: string; readonly oldEnd: OldEnd | undefined },
): Promise<Outcome> {
  const { id } = await findKey(ask, name)
  const rotated = await ask<KeyReply & { readonly key: string }>({
    method: 'POST',
    path: adminPath('keys', id, 'rotate'),
    json: oldEnd ?? {},
  })
  const [, old] = rotated.secrets
  const end = old === undefined ? '' : `The old secret ${secretText(old)}. `
  return {
    value: rotated,
    text: rotated.key,
    note: `${end}The new secret of ${id} is not shown again, because only its hash is stored.`,
  }
}

/** Ends one of the two secrets of a key. Repeating it changes nothing. */
export async function revokeSecret(
  ask: Ask,
  { name, secret }: { readonly name: string; readonly secret: string },
): Promise<Outcome> {
  const { id } = await findKey(ask, name)
  const key = await ask<KeyReply>({
    method: 'POST',
    path: adminPath('keys', id, 'secrets', secret, 'revoke'),
  })
  const left = key.secrets.filter(({ has_ended: hasEnded }) => !hasEnded)
  return { value: key, text: `Secrets of ${id} that work: ${left.map(secretText).join('; ')}.` }
}
