import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { admit, leftOf, type LimitRefusal, type ScopeState } from '../../src/domain/limits/admission.ts'
import { currentSpend, NOTHING_TOLD } from '../../src/domain/limits/periods.ts'
import { budgetPeriods, type BudgetPeriod, type Terms } from '../../src/domain/limits/scope.ts'
import { usageUnder, withoutDemand, type Demand } from '../../src/domain/limits/scope-usage.ts'
import { nanoUsd, ZERO } from '../../src/domain/money.ts'

type Step =
  | { readonly step: 'clock'; readonly byMs: number }
  | { readonly step: 'request'; readonly key: number; readonly model: number; readonly demand: Demand }
  /** The request that has been open for `age` others ends. */
  | { readonly step: 'end'; readonly age: number; readonly cost: number; readonly tokens: number }

const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-23T12:00:00Z')

const aDemand: fc.Arbitrary<Demand> = fc.record({
  kind: fc.constantFrom('text', 'media'),
  tokens: fc.integer({ min: 0, max: 2000 }),
  amount: fc.integer({ min: 0, max: 50 }).map(amount => nanoUsd(BigInt(amount))),
})

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ step: fc.constant('clock'), byMs: aJump() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant('request'),
      key: fc.nat({ max: 1 }),
      model: fc.nat({ max: 1 }),
      demand: aDemand,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('end'),
      age: fc.nat({ max: 20 }),
      // More than any worst case, so that some ends have a shortfall.
      cost: fc.integer({ min: 0, max: 60 }),
      tokens: fc.integer({ min: 0, max: 3000 }),
    }),
  },
)

const someTerms: fc.Arbitrary<Terms> = fc.record({
  limits: fc.record(
    {
      requests_per_minute: fc.integer({ min: 1, max: 30 }),
      tokens_per_minute: fc.integer({ min: 1, max: 10_000 }),
      concurrent_requests: fc.integer({ min: 1, max: 8 }),
    },
    { requiredKeys: [] },
  ),
  budgets: fc.record(
    { day: aBudget(), week: aBudget(), month: aBudget(), total: aBudget() },
    { requiredKeys: [] },
  ),
})

test('whatever happens, no budget is passed but by shortfalls, and no slot or reserve leaks', () => {
  const terms = fc.array(someTerms, { minLength: 8, maxLength: 8 })

  fc.assert(
    fc.property(terms, fc.array(aStep, { maxLength: 120 }), (ofScopes, steps) => {
      const run = new Run(ofScopes)
      for (const step of steps) run.take(step)
      run.endAll()
    }),
    { numRuns: 300 },
  )
})

test('of 200 requests for a dollar on a budget of ten, ten are admitted', () => {
  const budgets = { day: nanoUsd(10_000_000_000n) }
  const demand: Demand = { kind: 'text', tokens: 0, amount: nanoUsd(1_000_000_000n) }
  const state = aState(0, { limits: {}, budgets })
  let { usage } = state
  let admitted = 0

  for (let tried = 0; tried < 200; tried += 1) {
    const decision = admit([{ ...state, usage }], demand, START)
    if (decision.outcome === 'admitted') admitted += 1
    usage = decision.usages[0]!
  }

  expect(admitted).toBe(10)
})

function aState(id: number, terms: Terms): ScopeState {
  const usage = usageUnder(terms, {
    open: [],
    spentSince: () => ZERO,
    told: () => NOTHING_TOLD,
    nowMs: START,
  })
  return { scope: { kind: 'key', id, model: '' }, terms, usage }
}

/** An account with two keys, of which one is in a project, and two models, which have eight scopes together. */
class Run {
  readonly #states: ScopeState[]
  readonly #open: { readonly demand: Demand; readonly scopes: readonly number[] }[] = []
  /** The costs beyond the worst case, of each scope and period. */
  readonly #shortfalls = new Map<string, bigint>()
  #nowMs = START

  constructor(terms: readonly Terms[]) {
    this.#states = terms.map((ofScope, scope) => aState(scope, ofScope))
  }

  take(step: Step): void {
    if (step.step === 'clock') this.#nowMs += step.byMs
    else if (step.step === 'request') this.#request(step)
    else this.#end(step)
    this.#check()
  }

  endAll(): void {
    while (this.#open.length > 0) this.#end({ age: 0, cost: 0, tokens: 0 })
    for (const { usage } of this.#states) {
      expect(usage.running).toBe(0)
      expect(usage.reserved).toEqual({ text: ZERO, media: ZERO })
    }
  }

  #request({ key, model, demand }: Extract<Step, { step: 'request' }>): void {
    // The first key is in a project.
    const scopes = [0, ...(key === 0 ? [7] : []), 1 + key, 3 + key * 2 + model]
    const before = scopes.map(scope => this.#states[scope]!)
    const decision = admit(before, demand, this.#nowMs)
    for (const [index, scope] of scopes.entries())
      this.#states[scope] = { ...this.#states[scope]!, usage: decision.usages[index]! }
    if (decision.outcome === 'refused') {
      // The same request is refused alone by the scope that is named.
      const named = this.#states.find(({ scope }) => scope === decision.refusal.scope)!
      expect(admit([named], demand, this.#nowMs).outcome).toBe('refused')
      this.#expectWait(named, demand, decision.refusal)
      return
    }
    this.#open.push({ demand, scopes })
  }

  /** After the wait that a refusal names, that limit admits the request, and not a moment before. */
  #expectWait(state: ScopeState, demand: Demand, refusal: LimitRefusal): void {
    if (!('waitMs' in refusal) || refusal.waitMs === undefined) return
    const limitAt = (nowMs: number) => {
      const decision = admit([state], demand, nowMs)
      return decision.outcome === 'refused' ? decision.refusal.limit : undefined
    }
    expect(limitAt(this.#nowMs + refusal.waitMs - 1)).toBe(refusal.limit)
    expect(limitAt(this.#nowMs + refusal.waitMs)).not.toBe(refusal.limit)
  }

  #end({ age, cost, tokens }: Pick<Extract<Step, { step: 'end' }>, 'age' | 'cost' | 'tokens'>): void {
    const [ended] = this.#open.splice(age % Math.max(1, this.#open.length), 1)
    if (ended === undefined) return
    const used = { cost: nanoUsd(BigInt(cost)), tokens, atMs: this.#nowMs }
    for (const scope of ended.scopes) {
      const { terms, usage } = this.#states[scope]!
      const after = withoutDemand(usage, terms, ended.demand, used)
      this.#states[scope] = { ...this.#states[scope]!, usage: after }
      this.#noteShortfall(scope, used.cost - ended.demand.amount)
    }
  }

  #noteShortfall(scope: number, beyond: bigint): void {
    for (const period of budgetPeriods) {
      const key = this.#keyOf(scope, period)
      this.#shortfalls.set(key, (this.#shortfalls.get(key) ?? 0n) + (beyond > 0n ? beyond : 0n))
    }
  }

  #keyOf(scope: number, period: BudgetPeriod): string {
    const { startMs } = currentSpend(this.#states[scope]!.usage.spent[period], period, this.#nowMs)
    return `${scope} ${period} ${startMs}`
  }

  #check(): void {
    for (const [scope, state] of this.#states.entries()) {
      const open = this.#open.filter(({ scopes }) => scopes.includes(scope))
      expect(state.usage.running).toBe(open.length)
      expect(state.usage.running).toBeLessThanOrEqual(state.terms.limits.concurrent_requests ?? Infinity)
      for (const period of budgetPeriods) {
        const left = leftOf(state, period, this.#nowMs)
        if (left !== undefined)
          expect(left).toBeGreaterThanOrEqual(-(this.#shortfalls.get(this.#keyOf(scope, period)) ?? 0n))
      }
    }
  }
}

function aBudget() {
  return fc.integer({ min: 0, max: 200 }).map(amount => nanoUsd(BigInt(amount)))
}

/** Forwards by up to a month, and backwards by up to two hours. */
function aJump() {
  return fc.oneof(
    fc.integer({ min: 1, max: 60_000 }),
    fc.integer({ min: HOUR_MS, max: 750 * HOUR_MS }),
    fc.integer({ min: -2 * HOUR_MS, max: -1 }),
  )
}
