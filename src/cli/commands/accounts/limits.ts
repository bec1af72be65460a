import { budgetPeriods, rateLimits, type BudgetPeriod, type RateLimit } from '../../../domain/limits/scope.ts'
import { adminPath, type Ask } from '../../ask.ts'
import { warned, type Outcome, type Warned } from '../../outcome.ts'

/** Null removes a budget. */
export type BudgetOptions = Readonly<Partial<Record<BudgetPeriod, string | null>>>

/** The word that removes a limit, a budget or a restriction. */
export const NONE = 'none'

type LimitOption = number | typeof NONE

/** The options of commands that change limits. */
export type LimitOptions = {
  readonly rpm?: LimitOption
  readonly tpm?: LimitOption
  readonly concurrent?: LimitOption
  readonly budget?: BudgetOptions
  /** The model that the limits are for; all models without it. */
  readonly forModel?: string
}

/** The limits and budgets of a scope. */
export type Terms = {
  readonly limits: Readonly<Record<RateLimit, number | null>>
  readonly budgets: Readonly<Record<BudgetPeriod, string | null>>
}

type BudgetUse = {
  readonly spent_usd: string
  readonly reserved_usd: string
  readonly remaining_usd: string
}

/** The limits and budgets of a scope, with the use of the budgets. Defaults of keys have none. */
type UsedTerms = Terms & {
  readonly budget_usage?: Readonly<Partial<Record<BudgetPeriod, BudgetUse>>>
}

/** An account, a project or a key with its limits. */
export type LimitedReply = UsedTerms & {
  readonly id: string
  readonly name: string
  /** A project has none. */
  readonly per_model?: Readonly<Record<string, UsedTerms>>
}

/** Changes the limits of an account or a project, and shows all of them. */
export async function setLimits(
  ask: Ask,
  of: { readonly kind: 'accounts' | 'projects'; readonly name: string },
  options: LimitOptions,
): Promise<Outcome> {
  const changed = await ask<LimitedReply & Warned>({
    method: 'PATCH',
    path: adminPath(of.kind, of.name),
    json: bodyOf(options),
  })
  const lines = limitLines(changed)
  const text =
    lines.length === 0 ? `${changed.id} has no limits.` : [`Limits of ${changed.id}:`, ...lines].join('\n')
  return { value: changed, text, ...warned(changed) }
}

/** A line for each limit and budget. */
export function limitLines({
  per_model: perModel = {},
  ...own
}: UsedTerms & Pick<LimitedReply, 'per_model'>): readonly string[] {
  return [
    ...termLines(own),
    ...Object.entries(perModel).flatMap(([model, terms]) => termLines(terms, ` with ${model}`)),
  ]
}

function termLines({ limits, budgets, budget_usage: usage = {} }: UsedTerms, of = ''): readonly string[] {
  const used = (period: BudgetPeriod) => {
    const status = usage[period]
    if (status === undefined) return ''
    const { spent_usd: spent, reserved_usd: reserved, remaining_usd: left } = status
    return ` (${spent} spent, ${reserved === '0' ? '' : `${reserved} reserved, `}${left} left)`
  }
  return [
    ...rateLimits.flatMap(name =>
      limits[name] === null ? [] : [`${limits[name]} ${name.replaceAll('_', ' ')}${of}`],
    ),
    ...budgetPeriods.flatMap(period =>
      budgets[period] === null ? [] : [`${budgets[period]} USD ${nameOf[period]}${of}${used(period)}`],
    ),
  ]
}

const nameOf = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
} as const satisfies Record<BudgetPeriod, string>

/** The body of a request that changes limits. */
export function bodyOf({ rpm, tpm, concurrent, budget, forModel }: LimitOptions): object {
  const limits = {
    ...(rpm !== undefined && { requests_per_minute: nullOf(rpm) }),
    ...(tpm !== undefined && { tokens_per_minute: nullOf(tpm) }),
    ...(concurrent !== undefined && { concurrent_requests: nullOf(concurrent) }),
  }
  const terms = {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(budget !== undefined && { budgets: budget }),
  }
  if (forModel === undefined || Object.keys(terms).length === 0) return terms
  return { per_model: { [forModel]: terms } }
}

/** Null for `none`. An option cannot be null, because commander would read it as one without a value. */
export function nullOf<Value>(value: Value | typeof NONE): Value | null {
  return value === NONE ? null : value
}
