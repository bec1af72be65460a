import { admitRead } from '../../../domain/limits/admission.ts'
import { ZERO } from '../../../domain/money.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'
import type { Limited, Limits } from '../../../gateway/ports/ledger/limits.ts'
import { limitTerms, ownerOf } from '../../books/access/limit-changes.ts'
import {
  AccountLimits,
  budgetsOfScope,
  type LiveScope,
  modelBudgetsOf,
  outcomeOf,
  recentRefusalOf,
  type RequestsRefusal,
  UNLIMITED,
} from '../../books/limits/account-limits.ts'
import { BudgetAlerts } from '../../books/events/budget-alerts.ts'
import type { Events } from '../../books/events/events.ts'
import { first, type StepRunner, type Step } from '../../books/steps.ts'
import { scopesOfAccount } from './limit-usage.ts'
import { ratesFrom, type RatesRow } from './limit-states.ts'
import { tellRefusal } from './untold-alerts.ts'
import type { ReadQuery } from '../database/reads.ts'

/** The keys whose refusals are kept, at about 300 bytes each. */
const REFUSED_KEYS_MAX = 10_000

/** The refusals of budgets that were told. Telling one again records nothing. */
const TOLD_MAX = 10_000

type RefusedKey = { readonly accountId: number; readonly apiKeyId: number }

/** `Limits` of one node. */
export class PostgresLimits implements Limits {
  readonly #stepRunner: StepRunner
  readonly #sql: ReadQuery
  readonly #alerts: BudgetAlerts
  readonly #clock: Pick<Clock, 'now'>
  readonly #nowMs: () => number | null
  /** The scopes that refused requests of a key, as they were then. */
  readonly #refused = new Map<number, readonly LiveScope[]>()
  #generation = 0

  readonly #told = new Set<string>()

  constructor(parts: {
    readonly stepRunner: StepRunner
    readonly reads: ReadQuery
    readonly events: Events
    readonly clock: Pick<Clock, 'now'>
    /** Replaces the clock of the database, for tests. */
    readonly nowMs?: () => number
  }) {
    this.#stepRunner = parts.stepRunner
    this.#sql = parts.reads
    this.#alerts = new BudgetAlerts(parts.events)
    this.#clock = parts.clock
    this.#nowMs = parts.nowMs ?? (() => null)
  }

  of(owner: Parameters<Limits['of']>[0]): ReturnType<Limits['of']> {
    return this.#stepRunner.read(() => limitTerms(owner))
  }

  async budgets(owner: Parameters<Limits['budgets']>[0]): ReturnType<Limits['budgets']> {
    const { nowMs, scopes } = await this.#scopesOf(owner.accountId)
    const { kind, id } = ownerOf(owner)
    const live = scopes.find(({ scope }) => scope.kind === kind && scope.id === id)
    return live === undefined ? [] : budgetsOfScope(live, nowMs)
  }

  async modelBudgets(owner: Parameters<Limits['modelBudgets']>[0]): ReturnType<Limits['modelBudgets']> {
    const { nowMs, scopes } = await this.#scopesOf(owner.accountId)
    return modelBudgetsOf(scopes, owner, nowMs)
  }

  recentRefusal({ apiKeyId }: Parameters<Limits['recentRefusal']>[0]): Limited | undefined {
    const scopes = this.#refused.get(apiKeyId)
    if (scopes === undefined) return undefined
    const refused = recentRefusalOf(scopes, this.#nodeMs())
    if (refused === undefined) this.#refused.delete(apiKeyId)
    return refused
  }

  async countRead({
    accountId,
    apiKeyId,
  }: Parameters<Limits['countRead']>[0]): ReturnType<Limits['countRead']> {
    const sql = this.#sql
    const generation = this.#generation
    const rows = await sql<({ read_at_ms: bigint; project_id: bigint | null } & RatesRow)[]>`
      SELECT * FROM count_read_v1(${accountId}, ${apiKeyId}, ${this.#nowMs()})`
    const [row] = rows
    if (row === undefined) return UNLIMITED
    const projectId = row.project_id === null ? undefined : Number(row.project_id)
    const nowMs = Number(row.read_at_ms)
    const limits = AccountLimits.of(
      rows.map(rates => ratesFrom(rates, nowMs)),
      () => projectId,
    )
    const scopes = limits.scopesOf({ apiKeyId, model: '' })
    const decision = admitRead(scopes, nowMs)
    for (const [index, live] of scopes.entries()) live.usage = decision.usages[index] ?? live.usage
    const outcome = outcomeOf(scopes, decision, nowMs)
    if (outcome.outcome === 'limited') await this.noteRefusal({ accountId, apiKeyId }, outcome, generation)
    return outcome
  }

  /** Grows each time that the refusals are forgotten, because limits were changed. */
  get generation(): number {
    return this.#generation
  }

  forgetRefusals(): void {
    this.#refused.clear()
    this.#generation += 1
  }

  /**
   * A limit refused a request of a key, which began in a generation. A refusal that holds for its next requests is
   * kept. The first one of a budget is told, in a step of its own, because a refused request commits nothing.
   */
  async noteRefusal(of: RefusedKey, { refusal }: Limited, generation: number): Promise<void> {
    const { accountId, apiKeyId } = of
    const isOfNow = generation === this.#generation
    if (refusal.limit === 'requests_per_minute' && isOfNow) this.#keep(apiKeyId, refusal)
    if (refusal.limit !== 'budget' || refusal.isReserved) return
    const { scope, period, allowed, resetsAtMs } = refusal
    const told = [scope.kind, scope.id, scope.model, period, allowed, resetsAtMs].join(' ')
    if (this.#told.has(told)) return
    await this.#stepRunner.write('books', () =>
      tellRefusal({ accountId, refusal }, this.#alerts, this.#nowMs()),
    )
    if (this.#told.size >= TOLD_MAX) this.#told.clear()
    this.#told.add(told)
  }

  #keep(apiKeyId: number, refusal: RequestsRefusal): void {
    // A limit of a model does not refuse requests of other models.
    if (refusal.scope.model !== '') return
    if (this.#refused.size >= REFUSED_KEYS_MAX) this.#refused.clear()
    this.#refused.set(apiKeyId, [refusedScope(refusal, this.#nodeMs() + refusal.waitMs)])
  }

  /** The time for the refusals that this node keeps. */
  #nodeMs(): number {
    return this.#nowMs() ?? this.#clock.now()
  }

  #scopesOf(accountId: number) {
    const given = this.#nowMs()
    return this.#stepRunner.read(function* (): Step<{ nowMs: number; scopes: readonly LiveScope[] }> {
      const row = yield* first<{ now_ms: bigint }>('SELECT now_ms(?) AS now_ms', given)
      return { nowMs: Number(row?.now_ms), scopes: yield* scopesOfAccount(accountId) }
    })
  }
}

/** The scope of a refusal, whose bucket is empty until the wait is over. */
function refusedScope(refusal: RequestsRefusal, untilMs: number): LiveScope {
  const { scope, allowed, waitMs } = refusal
  return {
    scope,
    terms: { limits: { requests_per_minute: allowed }, budgets: {} },
    usage: {
      requests: { parts: 60_000 - waitMs * allowed, atMs: untilMs - waitMs },
      tokens: undefined,
      running: 0,
      reserved: { text: ZERO, media: ZERO },
      spent: {},
    },
    refused: { refusal, untilMs },
  }
}
