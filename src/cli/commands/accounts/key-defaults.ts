import { adminPath, type Ask } from '../../ask.ts'
import { warned, type Outcome, type Warned } from '../../outcome.ts'
import type { KeyReply } from './keys.ts'
import { limitLines, type Terms } from './limits.ts'

/** Whose new keys begin with the defaults: those of an account, or all without one. */
type DefaultsOf = { readonly account?: string | undefined }

/** What new keys begin with, in the fields of the admin API. */
type DefaultsReply = Terms &
  Warned &
  Pick<KeyReply, 'models' | 'routes' | 'allowed_addresses'> & {
    /** In seconds. */
    readonly expires_in: number | null
  }

/** An account with the defaults of its new keys. */
type AccountReply = Warned & { readonly id: string; readonly key_defaults: DefaultsReply }

/** Shows what new keys begin with. */
export async function showKeyDefaults(ask: Ask, { account }: DefaultsOf): Promise<Outcome> {
  if (account === undefined)
    return outcomeOf(await ask<DefaultsReply>({ method: 'GET', path: 'key-defaults' }), 'the gateway')
  const { id, key_defaults: defaults } = await ask<AccountReply>({
    method: 'GET',
    path: adminPath('accounts', account),
  })
  return outcomeOf(defaults, id)
}

/** Changes what new keys begin with, and shows all of it. Earlier keys keep theirs. */
export async function setKeyDefaults(
  ask: Ask,
  { account, fields }: DefaultsOf & { readonly fields: object },
): Promise<Outcome> {
  if (account === undefined)
    return outcomeOf(
      await ask<DefaultsReply>({ method: 'PATCH', path: 'key-defaults', json: fields }),
      'the gateway',
    )
  const changed = await ask<AccountReply>({
    method: 'PATCH',
    path: adminPath('accounts', account),
    json: { key_defaults: fields },
  })
  return { ...outcomeOf(changed.key_defaults, changed.id), ...warned(changed) }
}

function outcomeOf(defaults: DefaultsReply, whose: string): Outcome {
  const lines = [...limitLines(defaults), ...settingLines(defaults)]
  const text =
    lines.length === 0
      ? `New keys get no defaults from ${whose}.`
      : [`New keys get these defaults from ${whose}:`, ...lines].join('\n')
  return { value: defaults, text, ...warned(defaults) }
}

function settingLines(defaults: DefaultsReply): readonly string[] {
  const { models, routes, allowed_addresses: addresses, expires_in: expiresIn } = defaults
  return [
    ...(models === null ? [] : [`models ${models.join(', ')}`]),
    ...(routes === null ? [] : [`routes ${routes.join(', ')}`]),
    ...(addresses === null ? [] : [`only from ${addresses.join(', ')}`]),
    ...(expiresIn === null ? [] : [`expire ${timeText(expiresIn)} after their creation`]),
  ]
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A time in the largest unit of which it is a whole number, such as 90 days. */
function timeText(seconds: number): string {
  const [unit, length] = units.find(([, each]) => seconds % each === 0) ?? (['second', 1] as const)
  const count = seconds / length
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
