import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../../domain/errors.ts'
import { admit, admitRead, type LimitDecision, type LimitRefusal } from '../../../domain/limits/admission.ts'
import { budgetPeriods, type Scope } from '../../../domain/limits/scope.ts'
import {
  openUsage,
  usageUnder,
  withCost,
  withDebt,
  withoutDemand,
  type ScopeUsage,
} from '../../../domain/limits/scope-usage.ts'
import { addUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { budgetNews, withNews } from '../../../domain/webhooks/budget-alert.ts'
import type { BudgetStatus, Limited, LimitOwner, ReadOutcome } from '../../../gateway/ports/ledger/limits.ts'
import { BudgetAlerts } from '../../books/events/budget-alerts.ts'
import type { Events } from '../../books/events/events.ts'
import type { AccountBooks } from '../ledger/account-books.ts'
import type { StepDriver } from '../commits/step-runner.ts'
import type { HintBroadcast } from '../ledger/freed-hints.ts'
import type { OpenTextHolds } from '../ledger/text-holds.ts'
import type { Transactions } from '../commits/transactions.ts'
import {
  AccountLimits,
  budgetsOfScope,
  isOf,
  type LiveScope,
  modelBudgetsOf,
  outcomeOf,
  type ProjectOf,
  recentRefusalOf,
  type ScopedDemand,
  UNLIMITED,
} from '../../books/limits/account-limits.ts'
import { ownerOf } from '../../books/access/limit-changes.ts'
import { LimitRows } from './limit-rows.ts'
import { wrongOpenCounts, type WrongCount } from '../../books/verify/rules/limit-rules.ts'

/**
 * The limits of all accounts. Their usage is in memory: rates start anew with the process, open jobs and the sums of
 * budgets are read when an account is first used. Changes inside a step are undone by a rollback. An account without
 * limits costs one look at a field.
 */
export class LimitSteps {
  readonly #rows: LimitRows
  readonly #textHolds: OpenTextHolds
  readonly #alerts: BudgetAlerts
  readonly #stepDriver: StepDriver
  readonly #hints: HintBroadcast
  readonly #isInTransaction: () => boolean
  readonly #projectOf: ProjectOf = apiKeyId => this.#rows.projectOf(apiKeyId)
  /** The usages before the running transaction. */
  readonly #before = new Map<LiveScope, ScopeUsage>()
  /** The accounts whose terms the running transaction changes, with the time of the change. */
  readonly #changed = new Map<AccountBooks, number>()

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly textHolds: OpenTextHolds
    readonly stepDriver: StepDriver
    readonly events: Events
    readonly hints: HintBroadcast
  }) {
    this.#rows = new LimitRows(parts)
    this.#alerts = new BudgetAlerts(parts.events)
    this.#stepDriver = parts.stepDriver
    this.#textHolds = parts.textHolds
    this.#hints = parts.hints
    this.#isInTransaction = () => parts.database.inTransaction
    parts.transactions.join({
      afterCommit: () => this.#adopt(),
      afterRollback: () => this.#undo(),
    })
  }

  /**
   * Takes a demand from all of its scopes, or names the first that refuses. Takes nothing if the balance does not cover
   * the demand.
   */
  take(
    books: AccountBooks,
    demand: ScopedDemand,
    { nowMs, isCovered }: { readonly nowMs: number; readonly isCovered: boolean },
  ): ReadOutcome {
    const scopes = this.#limitsOf(books, nowMs)?.scopesOf(demand) ?? []
    if (scopes.length === 0) return UNLIMITED
    const decision = admit(scopes, demand, nowMs, books.free)
    if (decision.outcome === 'admitted' && !isCovered) return UNLIMITED
    return this.#taken(scopes, decision, nowMs)
  }

  /** Counts a request that holds nothing. It has no model. */
  takeRead(books: AccountBooks, apiKeyId: number, nowMs: number): ReadOutcome {
    const scopes = this.#limitsOf(books, nowMs)?.scopesOf({ apiKeyId, model: '' }) ?? []
    return scopes.length === 0 ? UNLIMITED : this.#taken(scopes, admitRead(scopes, nowMs), nowMs)
  }

  /**
   * The refusal of an earlier request that holds for every request of the key until its wait is over. A flood of
   * refused requests is answered by it.
   */
  recentRefusal(books: AccountBooks, apiKeyId: number, nowMs: number): Limited | undefined {
    const scopes = this.#limitsOf(books, nowMs)?.scopesOf({ apiKeyId, model: '' }) ?? []
    return recentRefusalOf(scopes, nowMs)
  }

  /** Gives back what a request or job took. `tokens` are those that it used. */
  giveBack(
    books: AccountBooks,
    demand: ScopedDemand,
    used: { readonly tokens: number; readonly atMs: number },
  ): void {
    for (const live of this.#readable(books, used.atMs)?.scopesOf(demand) ?? [])
      this.#set(live, withoutDemand(live.usage, live.terms, demand, { ...used, cost: ZERO }))
  }

  /** Takes the tokens of a request that gave back its part before it was charged. */
  addDebt(
    books: AccountBooks,
    demand: ScopedDemand,
    used: { readonly tokens: number; readonly atMs: number },
  ): void {
    for (const live of this.#readable(books, used.atMs)?.scopesOf(demand) ?? [])
      this.#set(live, withDebt(live.usage, live.terms, used))
  }

  /**
   * Inside a step, before the charge is written: counts its cost in the current periods, and tells of budgets that it
   * nearly spends or reaches.
   */
  spend(
    books: AccountBooks,
    charge: {
      readonly apiKeyId: number
      readonly model: string
      readonly cost: NanoUsd
      readonly atMs: number
    },
  ): void {
    // Loaded even for a cost of zero: limits that are loaded later would count it twice.
    const limits = this.#readable(books, charge.atMs)
    if (limits === null || charge.cost === ZERO) return
    for (const live of limits.scopesOf(charge)) {
      this.#set(live, { ...live.usage, spent: withCost(live.usage.spent, charge) })
      this.#tell(books, live, { atMs: charge.atMs })
    }
  }

  /** Whether a refusal is to be told. A flood of refusals costs one step in a period. */
  isNews(books: AccountBooks, refusal: LimitRefusal, atMs: number): boolean {
    const live = refusal.limit === 'budget' ? books.limits?.find(refusal.scope) : undefined
    return live !== undefined && budgetNews(live, { atMs, refusal }).length > 0
  }

  /** Inside a step: tells of a budget that refuses its first request of a period. Repeating it tells nothing. */
  tellRefusal(books: AccountBooks, refusal: LimitRefusal, atMs: number): void {
    const live = refusal.limit === 'budget' ? books.limits?.find(refusal.scope) : undefined
    if (live !== undefined) this.#tell(books, live, { atMs, refusal })
  }

  /** Inside a step that changed the terms of an account: the new ones apply after the commit. */
  termsChanged(books: AccountBooks, nowMs: number): void {
    this.#changed.set(books, nowMs)
  }

  budgetsOf(books: AccountBooks, owner: LimitOwner, nowMs: number): readonly BudgetStatus[] {
    const live = this.#limitsOf(books, nowMs)?.find({ ...ownerOf(owner), model: '' })
    return live === undefined ? [] : budgetsOfScope(live, nowMs)
  }

  modelBudgetsOf(
    books: AccountBooks,
    owner: LimitOwner,
    nowMs: number,
  ): ReadonlyMap<string, readonly BudgetStatus[]> {
    return modelBudgetsOf(this.#limitsOf(books, nowMs)?.all ?? [], owner, nowMs)
  }

  /**
   * Outside of a step: compares what the scopes of an account have counted with its charges and its open requests and
   * jobs. If a count differs, the limits are read again, which corrects it, and requests that wait for a leaked reserve
   * try again. Returns the wrong counts.
   */
  correctCounts(books: AccountBooks, nowMs: number): readonly WrongCount[] {
    const scopes = books.limits?.all ?? []
    if (scopes.length === 0) return []
    const openOf = this.#openIn(books.accountId)
    const wrong: WrongCount[] = []
    for (const { scope, usage } of scopes) {
      wrong.push(...wrongOpenCounts(scope, usage, openUsage(openOf(scope))))
      wrong.push(...this.#wrongBudgets(books.accountId, scope, usage))
    }
    if (wrong.length > 0) {
      books.limits = this.#load(books, nowMs)
      this.#hints.report(books.accountId)
    }
    return wrong
  }

  #wrongBudgets(accountId: number, scope: Scope, usage: ScopeUsage): readonly WrongCount[] {
    return budgetPeriods.flatMap(period => {
      const current = usage.spent[period]
      if (current === undefined) return []
      const { spent: counted, spentBefore, startMs } = current
      const actual = addUsd(this.#rows.spentSince(accountId, scope, startMs), spentBefore)
      return counted === actual ? [] : [{ of: 'budget', scope, period, counted, actual }]
    })
  }

  #taken(scopes: readonly LiveScope[], decision: LimitDecision, nowMs: number): ReadOutcome {
    for (const [index, live] of scopes.entries()) this.#set(live, decision.usages[index] ?? live.usage)
    return outcomeOf(scopes, decision, nowMs)
  }

  #set(live: LiveScope, usage: ScopeUsage): void {
    if (this.#isInTransaction() && !this.#before.has(live)) this.#before.set(live, live.usage)
    live.usage = usage
  }

  #tell(
    { accountId }: AccountBooks,
    live: LiveScope,
    after: { readonly atMs: number; readonly refusal?: LimitRefusal },
  ): void {
    for (const news of budgetNews(live, after)) {
      this.#set(live, withNews(live.usage, news))
      this.#stepDriver.run(this.#alerts.tell(accountId, live.scope, { news, atMs: after.atMs }))
    }
  }

  #limitsOf(books: AccountBooks, nowMs: number): AccountLimits | null {
    return books.limits === undefined ? (books.limits = this.#load(books, nowMs)) : books.limits
  }

  /** For steps that end work: limits that cannot be read must not stop them. */
  #readable(books: AccountBooks, nowMs: number): AccountLimits | null {
    try {
      return this.#limitsOf(books, nowMs)
    } catch (error) {
      if (isDamaged(error)) return null
      throw error
    }
  }

  /** Reads the terms and the sums. With limits that were loaded before, their rates stay. */
  #load(books: AccountBooks, nowMs: number): AccountLimits | null {
    const { accountId, limits } = books
    const rows = this.#rows.ofAccount(accountId)
    if (rows.length === 0) return null
    const openOf = this.#openIn(accountId)
    const live = rows.map(({ scope, terms }) => {
      const facts = {
        open: openOf(scope),
        spentSince: (startMs: number) => this.#rows.spentSince(accountId, scope, startMs),
        told: this.#stepDriver.run(this.#alerts.toldOf(accountId, scope, terms)),
        nowMs,
      }
      const usage = usageUnder(terms, facts, limits?.find(scope)?.usage)
      return { scope, terms, usage, refused: undefined }
    })
    return AccountLimits.of(live, this.#projectOf)
  }

  /** Reads what is open in an account. Returns a function for what is open in each scope. */
  #openIn(accountId: number): (scope: Scope) => readonly ScopedDemand[] {
    const open = [...this.#textHolds.demandsOf(accountId), ...this.#rows.openJobs(accountId)]
    return scope => open.filter(demand => isOf(scope, demand, this.#projectOf))
  }

  #adopt(): void {
    this.#before.clear()
    if (this.#changed.size === 0) return
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const [books, nowMs] of changed) books.limits = this.#load(books, nowMs)
  }

  #undo(): void {
    for (const [live, usage] of this.#before) live.usage = usage
    this.#before.clear()
    this.#changed.clear()
  }
}

/** The error of an account whose balances or limits cannot be read. It starts no paid work. */
export function isDamaged(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'books_inconsistent'
}
