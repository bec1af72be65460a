import { adminPath, type Ask } from '../ask.ts'
import type { Outcome } from '../outcome.ts'
import { bodyOf, limitLines, type LimitOptions, type Terms } from './limits.ts'

/** Whose new keys begin with the limits: those of an account, or all without one. */
type DefaultsOf = { readonly account?: string }

/** An account with the defaults of its new keys. */
type AccountReply = { readonly id: string; readonly key_defaults: Terms }

/** Shows the limits that new keys begin with. */
export async function showKeyDefaults(ask: Ask, { account }: DefaultsOf): Promise<Outcome> {
  if (account === undefined)
    return outcomeOf(await ask<Terms>({ method: 'GET', path: 'key-defaults' }), 'the gateway')
  const { id, key_defaults: terms } = await ask<AccountReply>({
    method: 'GET',
    path: adminPath('accounts', account),
  })
  return outcomeOf(terms, id)
}

/** Changes the limits that new keys begin with, and shows all of them. Earlier keys keep theirs. */
export async function setKeyDefaults(
  ask: Ask,
  { account, ...options }: DefaultsOf & LimitOptions,
): Promise<Outcome> {
  const terms = bodyOf(options)
  if (account === undefined)
    return outcomeOf(await ask<Terms>({ method: 'PATCH', path: 'key-defaults', json: terms }), 'the gateway')
  const changed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { key_defaults: terms },
  })
  return outcomeOf(changed.key_defaults, changed.id)
}

function outcomeOf(terms: Terms, whose: string): Outcome {
  const lines = limitLines(terms)
  const text =
    lines.length === 0
      ? `New keys get no limits from ${whose}.`
      : [`New keys get these limits from ${whose}:`, ...lines].join('\n')
  return { value: terms, text }
}
