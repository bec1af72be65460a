import type { SQL } from 'bun'
import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { admit } from '../../src/domain/limits/admission.ts'
import type { LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { NOTHING_TOLD, type BudgetTold } from '../../src/domain/limits/periods.ts'
import type { BudgetPeriod, Scope, Terms } from '../../src/domain/limits/scope.ts'
import {
  usageUnder,
  withCost,
  withDebt,
  withoutDemand,
  type ScopeUsage,
} from '../../src/domain/limits/scope-usage.ts'
import { addUsd, subtractUsd, usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import { budgetNews, withNews } from '../../src/domain/webhooks/budget-alert.ts'
import type { Hold, HoldDemand, HoldOutcome } from '../../src/gateway/ports/ledger/ledger.ts'
import type { LimitOwner } from '../../src/gateway/ports/ledger/limits.ts'
import { limitChanges, scopeTerms } from '../../src/stores/books/access/limit-changes.ts'
import {
  AccountLimits,
  isOf,
  outcomeOf,
  scopedDemand,
  type LiveScope,
} from '../../src/stores/books/limits/account-limits.ts'
import { Batches } from '../../src/stores/postgres/lanes/batches.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { createStepRunner } from '../../src/stores/postgres/lanes/step-runner.ts'
import { limitUsage, scopesOfAccount } from '../../src/stores/postgres/limits/limit-usage.ts'
import { Tariffs } from '../../src/stores/postgres/ledger/tariffs.ts'
import { TextHolds } from '../../src/stores/postgres/ledger/text-holds.ts'
import { aCharge, anId, NOW } from '../support/ledger-builders.ts'
import { anAccountIn, aKeyIn, problemsOf } from '../support/postgres/books.ts'
import { aDatabase } from '../support/postgres/databases.ts'
import { runServer } from '../support/postgres/run-server.ts'

const server = await runServer()
const HOUR_MS = 3_600_000
/** Longer than a lane that is not seen. */
const EXPIRY_MS = 120_000
const MODELS = ['gpt-x', 'a,"b\\'] as const
const RUNS = 60

type Begin = {
  readonly call: 'begin'
  readonly key: number
  readonly model: number
  readonly tokens: number
  readonly dollars: number
}
/** The request that has been open for `age` others is charged, or ends without a charge. */
type End = { readonly call: 'charge' | 'free'; readonly age: number; readonly used: number }
type Step =
  /** These calls go to one node at once, so that they share a batch. */
  | {
      readonly step: 'batch'
      readonly node: number
      readonly ends: readonly End[]
      readonly begins: readonly Begin[]
    }
  | { readonly step: 'expire' }
  | { readonly step: 'clock'; readonly byMs: number }
  | { readonly step: 'terms'; readonly owner: number; readonly patch: LimitsPatch }

const budget = fc.integer({ min: 0, max: 25 }).map(dollars => usd(String(dollars)))
const someTerms = fc.record({
  limits: fc.option(
    fc.record(
      {
        requests_per_minute: fc.integer({ min: 1, max: 12 }),
        tokens_per_minute: fc.integer({ min: 1, max: 100 }),
        concurrent_requests: fc.integer({ min: 1, max: 8 }),
      },
      { requiredKeys: [] },
    ),
  ),
  budgets: fc.option(
    fc.record({ day: budget, week: budget, month: budget, total: budget }, { requiredKeys: [] }),
  ),
})
const somePatch: fc.Arbitrary<LimitsPatch> = fc
  .tuple(someTerms, fc.option(someTerms))
  .map(([{ limits, budgets }, ofModel]) => ({
    limits,
    budgets,
    perModel: ofModel && { [MODELS[0]]: ofModel },
  }))
const begin: fc.Arbitrary<Begin> = fc.record({
  call: fc.constant('begin'),
  key: fc.nat({ max: 2 }),
  model: fc.nat({ max: 1 }),
  tokens: fc.nat({ max: 30 }),
  dollars: fc.nat({ max: 4 }),
})
const end: fc.Arbitrary<End> = fc.record({
  call: fc.constantFrom('charge', 'charge', 'free'),
  age: fc.nat({ max: 9 }),
  used: fc.nat({ max: 6 }),
})
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.constant('batch' as const),
      node: fc.nat({ max: 2 }),
      ends: fc.array(end, { maxLength: 4 }),
      begins: fc.array(begin, { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ step: 'expire' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('clock' as const),
      byMs: fc.oneof(fc.nat({ max: 60_000 }), fc.integer({ min: -30 * HOUR_MS, max: 60 * HOUR_MS })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('terms' as const),
      owner: fc.nat({ max: 3 }),
      patch: somePatch,
    }),
  },
)

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of ends) await close()
})

test.skipIf(server === undefined)(
  'batches in PostgreSQL, also of older gateways, have the outcomes, the usage and the alerts of the rules of limits',
  async () => {
    const url = await aDatabase(server!)
    const { openReads, connect } = connections({ url })
    const reads = openReads()
    const before = connections({ url: await urlOfBuildBefore(reads, url) })
    const clock = { nowMs: NOW }
    const nowMs = () => clock.nowMs
    const nodes = await Promise.all(
      [connect, connect, before.connect].map(async connectNode => {
        const batches = await Batches.open({ connect: connectNode, label: 'node', version: '1', nowMs })
        const holds = new TextHolds({
          batches,
          reads,
          tariffs: new Tariffs(createStepRunner({ batches, reads })),
          nowMs,
        })
        return { batches, holds, stepRunner: createStepRunner({ batches, reads }) }
      }),
    )
    ends.push(() => reads.close())
    // The first charge of a tariff waits for its row, so that it would be in a later batch.
    for (const { holds } of nodes) {
      const accountId = await anAccountIn(reads, usd('1'))
      const first: Hold = { id: anId(), accountId, kind: 'text', amount: usd('1') }
      await holds.place(first)
      await holds.capture(first, aCharge(1))
    }

    const history = fc.tuple(
      fc.nat({ max: 40 }),
      fc.array(somePatch, { minLength: 4, maxLength: 4 }),
      fc.array(aStep, { maxLength: 14 }),
    )
    await fc.assert(
      fc.asyncProperty(history, async ([dollars, patches, steps]) => {
        const run = await Run.start({ reads, nodes, clock, funds: usd(String(dollars)) })
        for (const [owner, patch] of patches.entries()) await run.take({ step: 'terms', owner, patch })
        for (const step of steps) await run.take(step)
      }),
      { numRuns: RUNS },
    )

    await Promise.all(nodes.map(({ batches }) => batches.close()))
    expect(await reads`SELECT 1 FROM limits WHERE running <> 0 OR reserved_text <> 0`).toHaveLength(0)
    expect(await problemsOf(reads)).toEqual([])
  },
  960_000,
)

/** A role whose batches are posted by the function that gateways called before, as during an upgrade. */
async function urlOfBuildBefore(sql: SQL, url: string): Promise<string> {
  const role = `before_${crypto.randomUUID()}`
  const types =
    'lane_place_v1, bigint[], text_charge_v1[], bigint, bigint, text_hold_v1[], text_hold_v1[], bigint'
  await sql.unsafe(`
    CREATE ROLE "${role}" LOGIN SUPERUSER PASSWORD 'secret';
    ALTER ROLE "${role}" SET search_path = before, public;
    CREATE SCHEMA before;
    CREATE FUNCTION before.post_v2(${types})
      RETURNS TABLE (part integer, subject bigint, v0 bigint, v1 bigint, v2 bigint, v3 bigint, v4 bigint, state text)
      LANGUAGE sql AS 'SELECT * FROM post_v1($1, $2, $3, $4, $5, $6, $7, $8)'`)
  return url.replace(/\/\/[^@]*@/, `//${role}:secret@`)
}

type Node = {
  readonly holds: TextHolds
  readonly stepRunner: ReturnType<typeof createStepRunner>
}
type Parts = {
  readonly reads: ReturnType<ReturnType<typeof connections>['openReads']>
  readonly nodes: readonly Node[]
  readonly clock: { nowMs: number }
  readonly funds: NanoUsd
}
type Open = { readonly hold: Hold; readonly demand: HoldDemand; isExpired: boolean }
type Spent = {
  readonly apiKeyId: number
  readonly model: string
  readonly cost: NanoUsd
  readonly atMs: number
}
type Told = BudgetTold & { readonly startMs: number; readonly budget: NanoUsd }

/** An account with three keys, two of them of a project, in the database and in the model. */
class Run {
  readonly #parts: Parts
  readonly #accountId: number
  readonly #keys: readonly number[]
  readonly #projectId: number
  #free: NanoUsd
  #available: NanoUsd
  #live: LiveScope[] = []
  #open: Open[] = []
  readonly #spent: Spent[] = []
  readonly #told = new Map<string, Told>()

  private constructor(
    parts: Parts,
    of: { readonly accountId: number; readonly keys: readonly number[]; readonly projectId: number },
  ) {
    this.#parts = parts
    this.#accountId = of.accountId
    this.#keys = of.keys
    this.#projectId = of.projectId
    this.#free = parts.funds
    this.#available = parts.funds
  }

  static async start(parts: Parts): Promise<Run> {
    const { reads, funds } = parts
    const accountId = await anAccountIn(reads, funds)
    const name = crypto.randomUUID()
    const [project] = await reads<{ id: bigint }[]>`
      INSERT INTO projects (public_id, account_id, name, created_at_ms, commit_id)
        VALUES (${name}, ${accountId}, 'one', 0, 0) RETURNING id`
    const projectId = Number(project!.id)
    const keys = [
      await aKeyIn(reads, accountId, projectId),
      await aKeyIn(reads, accountId, projectId),
      await aKeyIn(reads, accountId),
    ]
    return new Run(parts, { accountId, keys, projectId })
  }

  async take(step: Step): Promise<void> {
    if (step.step === 'batch') await this.#batch(step)
    else if (step.step === 'expire') await this.#expire()
    else if (step.step === 'terms') await this.#change(step.owner, step.patch)
    else this.#parts.clock.nowMs += step.byMs
    await this.#check()
  }

  get #nowMs(): number {
    return this.#parts.clock.nowMs
  }

  #projectOf(apiKeyId: number): number | undefined {
    return this.#keys.indexOf(apiKeyId) < 2 ? this.#projectId : undefined
  }

  #scopesOf(of: { readonly apiKeyId: number; readonly model: string }): LiveScope[] {
    return AccountLimits.of(this.#live, key => this.#projectOf(key)).scopesOf(of)
  }

  async #batch({ node, ends: ended, begins }: Extract<Step, { step: 'batch' }>): Promise<void> {
    const { holds } = this.#parts.nodes[node]!
    const ending = ended.flatMap(({ call, age, used }) => {
      const [open] = this.#open.splice(age % Math.max(1, this.#open.length), 1)
      return open === undefined ? [] : [{ call, used, open }]
    })
    const answers: Promise<unknown>[] = ending.map(({ call, used, open: { hold, demand } }) => {
      if (call === 'free') return holds.release(hold)
      const { apiKeyId, model } = demand
      return holds.capture(hold, aCharge(apiKeyId, { tokens: used, model, atMs: this.#nowMs }))
    })
    const asked = begins.map(({ key, model, tokens, dollars }) => {
      const amount = usd(String(dollars))
      const demand = { apiKeyId: this.#keys[key]!, model: MODELS[model]!, tokens, amount }
      return { id: anId(), accountId: this.#accountId, kind: 'text' as const, amount, demand }
    })
    const outcomes = asked.map(hold => holds.place(hold))

    this.#end(ending)
    const expected = asked.map(hold => this.#place(hold))

    await Promise.all(answers)
    expect((await Promise.all(outcomes)).map(withoutEmptyRates)).toEqual(expected.map(withoutEmptyRates))
  }

  /** A batch takes the debts of tokens first. */
  #end(ending: readonly { readonly call: End['call']; readonly used: number; readonly open: Open }[]): void {
    const atMs = this.#nowMs
    const used = (of: (typeof ending)[number]) => (of.call === 'charge' ? of.used : 0)
    const debtOf = (of: (typeof ending)[number]) => used(of) - (of.open.isExpired ? 0 : of.open.demand.tokens)
    for (const ended of ending.toSorted((one, other) => debtOf(other) - debtOf(one))) {
      const { hold, demand, isExpired } = ended.open
      const tokens = used(ended)
      const cost = usd(String(tokens))
      if (!isExpired) this.#free = addUsd(this.#free, hold.amount)
      this.#free = subtractUsd(this.#free, cost)
      this.#available = subtractUsd(this.#available, cost)
      if (cost > ZERO) this.#spent.push({ ...demand, cost, atMs })
      for (const live of this.#scopesOf(demand)) {
        if (cost > ZERO) live.usage = { ...live.usage, spent: withCost(live.usage.spent, { cost, atMs }) }
        if (!isExpired)
          live.usage = withoutDemand(live.usage, live.terms, scopedDemand(demand), {
            tokens,
            cost: ZERO,
            atMs,
          })
        else if (tokens > 0) live.usage = withDebt(live.usage, live.terms, { tokens, atMs })
      }
    }
    const charged = ending.filter(of => used(of) > 0).flatMap(({ open }) => this.#scopesOf(open.demand))
    for (const live of new Set(charged)) this.#tell(live)
  }

  #tell(live: LiveScope): void {
    for (const news of budgetNews(live, { atMs: this.#nowMs })) {
      live.usage = withNews(live.usage, news)
      const { startMs, told, spent } = news.spend
      this.#told.set(toldKey(live.scope, news.period), { ...told, startMs, budget: news.allowed })
      this.#expectedAlerts.push(
        `${news.type} ${nameOf(live.scope)} ${news.period} ${spent} of ${news.allowed}`,
      )
    }
  }
  readonly #expectedAlerts: string[] = []

  #place(hold: Hold & { readonly demand: HoldDemand }): HoldOutcome {
    const { amount, demand } = hold
    const scopes = this.#scopesOf(demand)
    const isCovered = amount === ZERO || amount <= this.#free
    const decision = admit(scopes, scopedDemand(demand), this.#nowMs, this.#free)
    const isRefused = decision.outcome === 'refused'
    if (!isRefused && !isCovered) {
      const heldText = subtractUsd(this.#available, this.#free)
      return { outcome: 'refused', available: this.#free, held: heldText, heldText }
    }
    for (const [index, live] of scopes.entries()) live.usage = decision.usages[index]!
    const outcome = outcomeOf(scopes, decision, this.#nowMs)
    if (outcome.outcome === 'limited') return outcome
    this.#free = subtractUsd(this.#free, amount)
    this.#open.push({ hold, demand, isExpired: false })
    return { outcome: 'held', hold, ...(scopes.length > 0 && { rates: outcome.rates }) }
  }

  async #expire(): Promise<void> {
    this.#parts.clock.nowMs += EXPIRY_MS
    for (const open of this.#open) {
      const { hold, demand, isExpired } = open
      if (isExpired || !(await this.#parts.nodes[0]!.holds.expire([hold], this.#nowMs))) continue
      open.isExpired = true
      this.#free = addUsd(this.#free, hold.amount)
      const used = { tokens: 0, cost: ZERO, atMs: this.#nowMs }
      for (const live of this.#scopesOf(demand))
        live.usage = withoutDemand(live.usage, live.terms, scopedDemand(demand), used)
    }
  }

  async #change(index: number, patch: LimitsPatch): Promise<void> {
    const accountId = this.#accountId
    const owners: LimitOwner[] = [
      { accountId, apiKeyId: undefined },
      { accountId, apiKeyId: undefined, projectId: this.#projectId },
      { accountId, apiKeyId: this.#keys[0]! },
      { accountId, apiKeyId: this.#keys[2]! },
    ]
    const owner = owners[index]!
    const { perModel: _, ...withoutModels } = patch
    const applied = owner.projectId === undefined ? patch : withoutModels
    const { stepRunner } = this.#parts.nodes[index % 2]!
    const line = { action: 'key.limits', subject: 'key' }
    const change = limitChanges(limitUsage(() => this.#nowMs))
    const changed = await stepRunner.write('access', () => change(owner, applied, line))
    if (changed.length === 0) return
    const terms = await stepRunner.read(() => scopeTerms(accountId))
    this.#live = terms.map(({ scope, terms: { limits, budgets } }) => {
      const known = this.#live.find(live => nameOf(live.scope) === nameOf(scope))
      const usage = this.#usageUnder(scope, { limits, budgets }, known?.usage)
      return { scope, terms: { limits, budgets }, usage, refused: undefined }
    })
  }

  #usageUnder(scope: Scope, terms: Terms, before: ScopeUsage | undefined): ScopeUsage {
    const passes = (of: { readonly apiKeyId: number; readonly model: string }) =>
      isOf(scope, { kind: 'text', tokens: 0, amount: ZERO, ...of }, key => this.#projectOf(key))
    const open = this.#open.filter(({ demand, isExpired }) => !isExpired && passes(demand))
    return usageUnder(
      terms,
      {
        open: open.map(({ demand }) => scopedDemand(demand)),
        spentSince: startMs =>
          this.#spent
            .filter(of => passes({ apiKeyId: of.apiKeyId, model: of.model }) && of.atMs >= startMs)
            .reduce((sum, { cost }) => addUsd(sum, cost), ZERO),
        told: (period, startMs) => {
          const told = this.#told.get(toldKey(scope, period))
          return told?.startMs === startMs && told.budget === terms.budgets[period] ? told : NOTHING_TOLD
        },
        nowMs: this.#nowMs,
      },
      before,
    )
  }

  async #check(): Promise<void> {
    const { reads, nodes } = this.#parts
    const stored = await nodes[0]!.stepRunner.read(() => scopesOfAccount(this.#accountId))
    expect(usagesOf(stored)).toEqual(usagesOf(this.#live))
    const alerts = await reads<AlertRow[]>`SELECT * FROM untold_alerts WHERE account_id = ${this.#accountId}`
    const found = alerts.map(
      ({ type, kind, scope_id: id, model, period, amount, compared_with: budget }) =>
        `${type} ${nameOf({ kind, id: Number(id), model })} ${period} ${amount} of ${budget}`,
    )
    expect(found.toSorted()).toEqual(this.#expectedAlerts.toSorted())
  }
}

type AlertRow = {
  type: string
  kind: Scope['kind']
  scope_id: bigint
  model: string
  period: string
  amount: bigint
  compared_with: bigint
}

function toldKey(scope: Scope, period: BudgetPeriod): string {
  return `${nameOf(scope)} ${period}`
}

function nameOf({ kind, id, model }: Scope): string {
  return `${kind} ${id} ${model}`
}

/** By their scopes. What was told is compared with the alerts. */
function usagesOf(scopes: readonly LiveScope[]): Record<string, unknown> {
  return Object.fromEntries(
    scopes
      .toSorted((one, other) => (nameOf(one.scope) < nameOf(other.scope) ? -1 : 1))
      .map(({ scope, terms, usage }) => {
        const spent = Object.entries(usage.spent).map(
          ([period, { startMs, endMs, spent: sum, spentBefore }]) =>
            [period, { startMs, endMs, sum, spentBefore }] as const,
        )
        return [nameOf(scope), { terms, usage: { ...usage, spent: Object.fromEntries(spent) } }]
      }),
  )
}

/** A store may leave out the rates of a hold that no limit of a rate applies to. */
function withoutEmptyRates(outcome: HoldOutcome): HoldOutcome {
  if (outcome.outcome !== 'held' || outcome.rates === undefined) return outcome
  const { rates, ...held } = outcome
  return rates.requests === undefined && rates.tokens === undefined ? held : outcome
}
