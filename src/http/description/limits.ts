import { budgetPeriods, rateLimits } from '../../domain/limits/scope.ts'
import {
  about,
  closed,
  dateTime,
  listOf,
  nullable,
  object,
  text,
  type Members,
  type Schema,
  usd,
} from './schema.ts'

const rate: Schema = { type: 'integer', minimum: 1 }
/** A decimal string of dollars, as `parseUsd` reads it. */
const budget: Schema = { type: 'string', pattern: '^\\d{1,18}(?:\\.\\d{1,9})?$' }

function membersOf(names: readonly string[], schema: Schema): Members {
  return Object.fromEntries(names.map(name => [name, nullable(schema)]))
}

/** The limits and budgets of a scope. */
export const terms: Members = {
  limits: about('Null for no limit.', object(membersOf(rateLimits, rate))),
  budgets: about('Dollars; null for no budget. Periods are in UTC.', object(membersOf(budgetPeriods, usd))),
}
const budgetUsage: Schema = object({
  spent_usd: usd,
  reserved_usd: about('The worst cases of open requests and jobs.', usd),
  remaining_usd: about('Below zero if a charge exceeded its worst case.', usd),
  resets_at: about('Null for `total`.', nullable(dateTime)),
})

/** The use of budgets. */
const budgetUsages = object({}, Object.fromEntries(budgetPeriods.map(period => [period, budgetUsage])))

/** The members of a project, and of a model of an account or a key, that describe its limits. */
export const termMembers: Members = {
  ...terms,
  budget_usage: about('The budgets in their current periods.', budgetUsages),
}

export const warnings: Members = {
  warnings: about(
    'Only in replies to changes: sentences about models that the body names and the catalog does not have.',
    listOf(text),
  ),
}

/** The members of an account or a key that describe its limits. */
export const limitMembers: Members = {
  ...termMembers,
  per_model: about('Further limits of requests with a model.', {
    type: 'object',
    additionalProperties: object(termMembers),
  }),
}

/** The members of a change of limits without those for single models. */
export const termChanges: Members = {
  limits: about(
    'An absent limit stays, and null removes it.',
    nullable(closed({}, membersOf(rateLimits, rate))),
  ),
  budgets: nullable(closed({}, membersOf(budgetPeriods, budget))),
}

/** The members of a change of limits. */
export const limitChanges: Members = {
  ...termChanges,
  per_model: nullable({ type: 'object', additionalProperties: nullable(closed({}, termChanges)) }),
}

export const noLimits = { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null }
export const noBudgets = { day: null, week: null, month: null, total: null }

export const limitsExample = {
  limits: { ...noLimits, requests_per_minute: 60 },
  budgets: { ...noBudgets, month: '20' },
  per_model: {},
  budget_usage: {
    month: {
      spent_usd: '1.25',
      reserved_usd: '0.049182',
      remaining_usd: '18.700818',
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  },
}

const { per_model: _, ...termsOnly } = limitsExample
export const termsExample = termsOnly

/** Of an account or a key without limits. */
export const noLimitsExample = { limits: noLimits, budgets: noBudgets, per_model: {}, budget_usage: {} }
