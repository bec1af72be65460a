import { admit } from '../../../domain/limits/admission.ts'
import { NOTHING_TOLD, type PeriodSpend } from '../../../domain/limits/periods.ts'
import type { RateBucket } from '../../../domain/limits/rate-bucket.ts'
import type { BudgetPeriod, RateLimit, Scope, ScopeKind } from '../../../domain/limits/scope.ts'
import type { ScopeUsage } from '../../../domain/limits/scope-usage.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { ReadOutcome } from '../../../gateway/ports/ledger/limits.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import { AccountLimits, outcomeOf, scopedDemand, type LiveScope } from '../../books/limits/account-limits.ts'
import { fieldsOf } from '../database/literals.ts'

/** The limits of an account, as they were at a time. */
type AccountState = {
  readonly nowMs: number
  readonly scopes: LiveScope[]
  limits: AccountLimits | undefined
}

/**
 * The limits of the accounts of a batch, before its holds. The database decides about the holds. The node then repeats
 * each decision with the rules of the domain, which name the refusal and what is left.
 */
export class LimitStates {
  readonly #accounts = new Map<number, AccountState>()
  /** By the ids of keys. */
  readonly #projects = new Map<number, number>()

  /** Adds one scope, with its usage at a time. */
  add(accountId: number, nowMs: number, scope: LiveScope): void {
    const account = this.#accounts.get(accountId)
    if (account === undefined) this.#accounts.set(accountId, { nowMs, scopes: [scope], limits: undefined })
    else account.scopes.push(scope)
  }

  addProject(apiKeyId: number, projectId: number): void {
    this.#projects.set(apiKeyId, projectId)
  }

  /**
   * The outcome of a hold that the database placed or refused. `free` is what no hold has of the balance. Undefined if
   * it passes no limits.
   */
  outcomeOf({ accountId, demand }: TextHoldTerms, free?: NanoUsd): ReadOutcome | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined || demand === undefined) return undefined
    account.limits ??= AccountLimits.of(account.scopes, apiKeyId => this.#projects.get(apiKeyId))
    const { nowMs, limits } = account
    const scopes = limits.scopesOf(scopedDemand(demand))
    if (scopes.length === 0) return undefined
    const decision = admit(scopes, scopedDemand(demand), nowMs, free)
    for (const [index, live] of scopes.entries()) live.usage = decision.usages[index] ?? live.usage
    return outcomeOf(scopes, decision, nowMs)
  }
}

/** The rates of a scope, as `scope_changes_v1` found them: null without a limit. The buckets are filled until now. */
export type RatesRow = {
  kind: string
  scope_id: bigint
  model: string
  requests_per_minute: bigint | null
  request_parts: bigint | null
  tokens_per_minute: bigint | null
  token_parts: bigint | null
}

/**
 * A scope with only its rates. If the database admitted all that is asked of it, what is left of them is all that a
 * caller hears.
 */
export function ratesFrom(row: RatesRow, nowMs: number): LiveScope {
  const limits: Partial<Record<RateLimit, number>> = {}
  if (row.requests_per_minute !== null) limits.requests_per_minute = Number(row.requests_per_minute)
  if (row.tokens_per_minute !== null) limits.tokens_per_minute = Number(row.tokens_per_minute)
  const bucketOf = (parts: bigint | null) =>
    parts === null ? undefined : { parts: Number(parts), atMs: nowMs }
  return {
    scope: scopeOf(row.kind, row.scope_id, row.model),
    terms: { limits, budgets: {} },
    usage: {
      requests: bucketOf(row.request_parts),
      tokens: bucketOf(row.token_parts),
      running: 0,
      reserved: { text: ZERO, media: ZERO },
      spent: {},
    },
    refused: undefined,
  }
}

/** A scope from the text of `limit_state_v1`. */
export function scopeFrom(state: string): LiveScope {
  const [kind, id, model, ...numbers] = fieldsOf(state)
  const fields = new Fields(numbers)
  const limits: Partial<Record<RateLimit, number>> = {}
  const requestsPerMinute = fields.number()
  const tokensPerMinute = fields.number()
  const concurrent = fields.number()
  if (requestsPerMinute !== undefined) limits.requests_per_minute = requestsPerMinute
  if (tokensPerMinute !== undefined) limits.tokens_per_minute = tokensPerMinute
  if (concurrent !== undefined) limits.concurrent_requests = concurrent
  const budgets: Partial<Record<BudgetPeriod, NanoUsd>> = {}
  for (const period of ['day', 'week', 'month', 'total'] as const) {
    const amount = fields.amount()
    if (amount !== undefined) budgets[period] = amount
  }
  const usage: ScopeUsage = {
    requests: bucketFrom(fields),
    tokens: bucketFrom(fields),
    running: fields.number() ?? 0,
    reserved: { text: fields.amount() ?? ZERO, media: fields.amount() ?? ZERO },
    spent: spentFrom(fields),
  }
  return {
    scope: scopeOf(kind ?? '', id ?? '', model ?? ''),
    terms: { limits, budgets },
    usage,
    refused: undefined,
  }
}

/** The store has only scopes of these kinds. */
function scopeOf(kind: string, id: bigint | string, model: string): Scope {
  return { kind: kind as ScopeKind, id: Number(id), model }
}

function bucketFrom(fields: Fields): RateBucket | undefined {
  const [parts, atMs] = [fields.number(), fields.number()]
  return parts === undefined || atMs === undefined ? undefined : { parts, atMs }
}

function spentFrom(fields: Fields): ScopeUsage['spent'] {
  const spent: Partial<Record<BudgetPeriod, PeriodSpend>> = {}
  for (const period of ['day', 'week', 'month'] as const) {
    const [startMs, endMs, sum, before] = [fields.number(), fields.number(), fields.amount(), fields.amount()]
    if (startMs !== undefined && endMs !== undefined && sum !== undefined)
      spent[period] = { startMs, endMs, spent: sum, spentBefore: before ?? ZERO, told: NOTHING_TOLD }
  }
  const sum = fields.amount()
  if (sum !== undefined)
    spent.total = { startMs: 0, endMs: Infinity, spent: sum, spentBefore: ZERO, told: NOTHING_TOLD }
  return spent
}

/** The numbers of a record, which are read in their order. */
class Fields {
  readonly #values: readonly (string | null | undefined)[]
  #next = 0

  constructor(values: readonly (string | null)[]) {
    this.#values = values
  }

  number(): number | undefined {
    const value = this.#take()
    return value === undefined ? undefined : Number(value)
  }

  amount(): NanoUsd | undefined {
    const value = this.#take()
    return value === undefined ? undefined : nanoUsd(BigInt(value))
  }

  #take(): string | undefined {
    const value = this.#values[this.#next]
    this.#next += 1
    return value ?? undefined
  }
}
