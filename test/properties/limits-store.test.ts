import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { addUsd, usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import type { Hold } from '../../src/gateway/ports/ledger/ledger.ts'
import { fakeClock, type FakeClock } from '../support/fake-clock.ts'
import { aJob } from '../support/job-builders.ts'
import { aCharge, aHold, anAccount, anAudit, changeLimits, NOW } from '../support/ledger-builders.ts'
import { sqlite, type TestStore } from '../support/test-store.ts'

/** A request or job of a key; `node` is the node that it reaches. */
type Begin = {
  readonly step: 'begin'
  readonly kind: 'request' | 'job'
  readonly node: number
  readonly key: number
  readonly model: number
  readonly dollars: number
}
type Step =
  | Begin
  /** The one that has been open for `age` others is charged, or freed without a cost. */
  | { readonly step: 'charge'; readonly age: number; readonly dollars: number }
  | { readonly step: 'free'; readonly age: number }
  /** The holds whose time is over are expired; their requests can still be charged. */
  | { readonly step: 'expire' }
  | { readonly step: 'kill' }
  /** The check of the books, while requests and jobs are open. */
  | { readonly step: 'verify' }
  | { readonly step: 'clock'; readonly byMs: number }

type Open = { readonly key: number; readonly amount: NanoUsd } & (
  | { readonly kind: 'text'; readonly hold: Hold; readonly model: string; isExpired: boolean }
  | { readonly kind: 'media'; readonly id: Hold['id'] }
)

const HOUR_MS = 3_600_000
/** Longer than a hold that is not renewed. */
const EXPIRY_MS = 120_000
const MODELS = ['gpt-x', 'gpt-y'] as const
/** More slots than a history takes never refuse, so that budgets are reached too. */
const slots = fc.integer({ min: 1, max: 6 })
const budget = fc.integer({ min: 0, max: 15 }).map(dollars => usd(String(dollars)))
const someTerms: fc.Arbitrary<LimitsPatch> = fc.record({
  limits: fc.record({ concurrent_requests: slots }, { requiredKeys: [] }),
  budgets: fc.record({ day: budget, week: budget, total: budget }, { requiredKeys: ['total'] }),
})
const begin = fc.record({
  step: fc.constant('begin' as const),
  kind: fc.constantFrom('request' as const, 'request' as const, 'job' as const),
  node: fc.nat({ max: 1 }),
  key: fc.nat({ max: 1 }),
  model: fc.nat({ max: 1 }),
  dollars: fc.nat({ max: 4 }),
})
const age = fc.nat({ max: 9 })
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: begin },
  // More than any worst case, so that some charges have a shortfall.
  { weight: 4, arbitrary: fc.record({ step: fc.constant('charge'), age, dollars: fc.nat({ max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('free'), age }) },
  { weight: 1, arbitrary: fc.constant({ step: 'expire' as const }) },
  { weight: 1, arbitrary: fc.constant({ step: 'kill' as const }) },
  { weight: 1, arbitrary: fc.constant({ step: 'verify' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('clock'),
      byMs: fc.integer({ min: -30 * HOUR_MS, max: 60 * HOUR_MS }),
    }),
  },
)

test('whatever happens in a store, no request passes a budget, and no slot, reserve or cost is lost', async () => {
  const terms = fc.record({ account: someTerms, keys: fc.tuple(someTerms, someTerms), ofModel: someTerms })

  await fc.assert(
    fc.asyncProperty(terms, fc.array(aStep, { maxLength: 40 }), async (ofScopes, steps) => {
      const run = await Run.start(ofScopes)
      for (const step of steps) await run.take(step)
      await run.end()
    }),
    { numRuns: 25 },
  )
}, 480_000)

type ScopeTerms = {
  readonly account: LimitsPatch
  readonly keys: readonly [LimitsPatch, LimitsPatch]
  readonly ofModel: LimitsPatch
}

/** A rich account with two keys and two models, on two nodes of a real store. */
class Run {
  readonly #clock: FakeClock
  readonly #opened: Awaited<ReturnType<typeof sqlite.open>>
  readonly #keys: number[] = []
  readonly #terms: ScopeTerms
  #accountId = 0
  #nodes: readonly TestStore[]
  #open: Open[] = []
  /** What each key was charged, ever. */
  readonly #charged: NanoUsd[] = [ZERO, ZERO]
  #latestChargeMs = 0
  /** A start with a clock before the latest charges counts these in its period, until a check corrects that. */
  #isSetBack = false

  private constructor(opened: Awaited<ReturnType<typeof sqlite.open>>, terms: ScopeTerms, clock: FakeClock) {
    this.#opened = opened
    this.#terms = terms
    this.#clock = clock
    this.#nodes = [opened.store, opened.other]
  }

  static async start(terms: ScopeTerms): Promise<Run> {
    const clock = fakeClock(NOW)
    const opened = await sqlite.open({ clock })
    const run = new Run(opened, terms, clock)
    await run.#setUp(opened.store)
    return run
  }

  async take(step: Step): Promise<void> {
    if (step.step === 'begin') await this.#begin(step)
    else if (step.step === 'charge') await this.#charge(step.age, step.dollars)
    else if (step.step === 'free') await this.#free(step.age)
    else if (step.step === 'expire') await this.#expire()
    else if (step.step === 'kill') await this.#kill()
    else if (step.step === 'verify') await this.#verify()
    else this.#clock.setWallClock(this.#clock.now() + step.byMs)
    await this.#check()
  }

  /** Ends what is open. Then nothing is reserved, every slot is free, and the books are sound. */
  async end(): Promise<void> {
    while (this.#open.length > 0) await this.#free(0)
    await this.#check()
    for (const [key] of this.#keys.entries()) {
      expect(await this.#place({ key, model: 0, node: 0, dollars: 0 })).toBe('held')
      await this.#free(0)
    }
    await this.#verify()
  }

  /** No count differs from what is open and charged, but for charges that a start with an earlier clock counted. */
  async #verify(): Promise<void> {
    const { problems } = await this.#node.ledger.verify()
    expect(problems.filter(({ stopsNothing }) => !(this.#isSetBack && stopsNothing))).toEqual([])
  }

  get #node(): TestStore {
    return this.#nodes[0]!
  }

  async #setUp(store: TestStore): Promise<void> {
    const { accountId, apiKeyId } = await anAccount(store, { funds: usd('10000') })
    const second = await store.apiKeys.create({
      publicId: `key_second_${accountId}`,
      accountId,
      name: 'second',
      hash: crypto.getRandomValues(new Uint8Array(32)),
      prefix: 'tg_live_abcd',
      audit: anAudit(),
    })
    this.#accountId = accountId
    this.#keys.push(apiKeyId, second.id)
    const perModel = { [MODELS[0]]: this.#terms.ofModel }
    await changeLimits(store, { accountId, apiKeyId: undefined }, { ...this.#terms.account, perModel })
    for (const [index, id] of this.#keys.entries())
      await changeLimits(store, { accountId, apiKeyId: id }, this.#terms.keys[index]!)
  }

  async #begin(begun: Begin): Promise<void> {
    const before = this.#open.length
    if (begun.kind === 'request') await this.#place(begun)
    else await this.#create(begun)
    if (this.#open.length === before || begun.dollars === 0) return
    // Only a request that fits into every budget is admitted.
    for (const owner of [undefined, this.#keys[begun.key]])
      for (const { remaining } of await this.#budgets(owner)) expect(remaining).toBeGreaterThanOrEqual(0n)
  }

  async #place({ key, model, node, dollars }: Omit<Begin, 'step' | 'kind'>): Promise<string> {
    const amount = usd(String(dollars))
    const name = MODELS[model]!
    const demand = { apiKeyId: this.#keys[key]!, model: name, tokens: 5, amount }
    const asked = aHold({ accountId: this.#accountId, kind: 'text', amount, demand })
    const outcome = await this.#nodes[node % this.#nodes.length]!.ledger.placeHold(asked)
    if (outcome.outcome === 'held')
      this.#open.push({ kind: 'text', key, amount, hold: outcome.hold, model: name, isExpired: false })
    return outcome.outcome
  }

  async #create({ key, model, node, dollars }: Begin): Promise<void> {
    const held = usd(String(dollars))
    const job = {
      ...aJob({ accountId: this.#accountId, apiKeyId: this.#keys[key]! }),
      model: MODELS[model]!,
      held,
      createdAtMs: this.#clock.now(),
    }
    const { outcome } = await this.#nodes[node % this.#nodes.length]!.jobs.create(job)
    if (outcome === 'created') this.#open.push({ kind: 'media', key, amount: held, id: job.id })
  }

  async #charge(age: number, dollars: number): Promise<void> {
    const [ended] = this.#open.splice(age % Math.max(1, this.#open.length), 1)
    if (ended === undefined) return
    if (ended.kind === 'media') return this.#fail(ended.id)
    const { hold, model, key } = ended
    const charge = aCharge(this.#keys[key]!, { tokens: dollars, model, atMs: this.#clock.now() })
    await this.#node.ledger.captureHold(hold, charge)
    this.#latestChargeMs = Math.max(this.#latestChargeMs, charge.atMs)
    this.#charged[key] = addUsd(this.#charged[key]!, usd(String(dollars)))
  }

  async #free(age: number): Promise<void> {
    const [ended] = this.#open.splice(age % Math.max(1, this.#open.length), 1)
    if (ended?.kind === 'text') await this.#node.ledger.releaseHold(ended.hold, this.#clock.now())
    else if (ended?.kind === 'media') await this.#fail(ended.id)
  }

  async #fail(id: Hold['id']): Promise<void> {
    await this.#node.jobs.fail(id, { reason: 'rejected', message: 'No.', atMs: this.#clock.now() })
  }

  async #expire(): Promise<void> {
    this.#clock.advance(EXPIRY_MS)
    for (const open of this.#open)
      if (open.kind === 'text' && !open.isExpired)
        open.isExpired = (await this.#node.ledger.expireHolds([open.hold], this.#clock.now())) === 1
  }

  /** The requests die with their process, and jobs go on. */
  async #kill(): Promise<void> {
    this.#nodes = [await this.#opened.reopen()]
    this.#isSetBack ||= this.#clock.now() < this.#latestChargeMs
    this.#open = this.#open.filter(({ kind }) => kind === 'media')
  }

  #budgets(apiKeyId: number | undefined) {
    return this.#node.limits.budgets({ accountId: this.#accountId, apiKeyId })
  }

  async #check(): Promise<void> {
    for (const key of [undefined, 0, 1]) {
      const isOf = (open: Open) => key === undefined || open.key === key
      const reserved = sumOf(
        this.#open.filter(open => isOf(open) && !(open.kind === 'text' && open.isExpired)),
      )
      const charged = key === undefined ? addUsd(this.#charged[0]!, this.#charged[1]!) : this.#charged[key]!
      const budgets = await this.#budgets(key === undefined ? undefined : this.#keys[key])
      for (const status of budgets) expect(status.reserved).toBe(reserved)
      expect(budgets.find(({ period }) => period === 'total')?.spent).toBe(charged)
    }
  }
}

function sumOf(open: readonly Open[]): NanoUsd {
  return open.reduce((sum, { amount }) => addUsd(sum, amount), ZERO)
}
