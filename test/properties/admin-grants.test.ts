import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { nanoUsd, ZERO } from '../../src/domain/money.ts'
import { aCredit, anAccount, anAudit, available, NOW } from '../support/ledger-builders.ts'
import { sqlite, type TestStore } from '../support/test-store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const PER_DAY = nanoUsd(100n)
const TOKENS = 2

type Grant = {
  readonly token: number
  readonly amount: number
  /** The idempotency key; grants with the same one repeat each other if their amounts are the same. */
  readonly key: number | undefined
}
type Step =
  | { readonly step: 'clock'; readonly byHours: number }
  | { readonly step: 'restart' }
  | { readonly step: 'race'; readonly node: 'store' | 'other'; readonly grants: readonly Grant[] }

const aGrant: fc.Arbitrary<Grant> = fc.record({
  token: fc.nat({ max: TOKENS - 1 }),
  amount: fc.integer({ min: 1, max: 60 }),
  key: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
})
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('clock'), byHours: fc.integer({ min: -30, max: 30 }) }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('restart') }) },
  {
    weight: 5,
    arbitrary: fc.record({
      step: fc.constant('race'),
      node: fc.constantFrom('store', 'other'),
      grants: fc.array(aGrant, { minLength: 1, maxLength: 8 }),
    }),
  },
)

test('after races, repeats, restarts and clock steps, a token has granted what fits into each day, and no more', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 12 }), async steps => {
      const { store, other, reopen } = await sqlite.open()
      const run = await Run.start({ store, other })
      for (const step of steps) {
        if (step.step === 'restart') run.nodes = await restarted(reopen)
        else if (step.step === 'clock') run.nowMs += step.byHours * HOUR_MS
        else await run.race(run.nodes[step.node], step.grants)
      }
      await run.check()
    }),
    { numRuns: 40 },
  )
}, 60_000)

/** After a restart, the store has one node. */
async function restarted(reopen: () => Promise<TestStore>): Promise<Run['nodes']> {
  const store = await reopen()
  return { store, other: store }
}

/** The grants on a store, and what they should be. */
class Run {
  nowMs = NOW
  nodes: { readonly store: TestStore; readonly other: TestStore }
  readonly #accountId: number
  readonly #tokenIds: readonly number[]
  /** What each token granted on its latest day. */
  readonly #latest = new Map<number, { day: number; granted: number }>()
  readonly #amountOfKey = new Map<number, number>()
  #granted = 0

  private constructor(nodes: Run['nodes'], accountId: number, tokenIds: readonly number[]) {
    this.nodes = nodes
    this.#accountId = accountId
    this.#tokenIds = tokenIds
  }

  static async start(nodes: Run['nodes']): Promise<Run> {
    const { store } = nodes
    const { accountId } = await anAccount(store, { funds: ZERO })
    const tokenIds: number[] = []
    for (let index = 0; index < TOKENS; index += 1) {
      const { id } = await store.adminTokens.create({
        publicId: `tok_${index}`,
        name: `token ${index}`,
        hash: new Uint8Array(32).fill(index),
        prefix: 'tg_admin_abcd',
        scopes: ['grants'],
        grantsPerDay: PER_DAY,
        expiresAtMs: null,
        audit: anAudit(),
      })
      tokenIds.push(id)
    }
    return new Run(nodes, accountId, tokenIds)
  }

  /** Gives all grants at once on one node, which takes them in their order. */
  async race({ ledger }: TestStore, grants: readonly Grant[]): Promise<void> {
    const outcomes = await Promise.allSettled(
      grants.map(({ token, amount, key }) =>
        ledger.credit({
          ...aCredit(this.#accountId),
          source: 'promotions',
          amount: nanoUsd(BigInt(amount)),
          ...(key === undefined ? {} : { idempotencyKey: `key-${key}` }),
          allowance: { of: 'token', id: this.#tokenIds[token]!, perDay: PER_DAY },
          audit: anAudit({ atMs: this.nowMs }),
        }),
      ),
    )
    expect(outcomes.map(codeOf)).toEqual(grants.map(grant => this.#expected(grant)))
  }

  async check(): Promise<void> {
    const { ledger, adminTokens } = this.nodes.store
    expect(await available(ledger, this.#accountId)).toBe(nanoUsd(BigInt(this.#granted)))
    for (const [index, id] of this.#tokenIds.entries()) {
      const latest = this.#latest.get(index)
      const expected = latest && { day: latest.day, granted: nanoUsd(BigInt(latest.granted)) }
      expect(await adminTokens.latestGrants(id)).toEqual(expected)
    }
    expect((await ledger.verify()).problems).toEqual([])
  }

  #expected({ token, amount, key }: Grant): string {
    const first = key === undefined ? undefined : this.#amountOfKey.get(key)
    if (first !== undefined) return first === amount ? 'given' : 'idempotency_key_reuse'
    const today = this.#today(token)
    if (today.granted + amount > Number(PER_DAY)) return 'grants_per_day_exceeded'
    today.granted += amount
    this.#latest.set(token, today)
    this.#granted += amount
    if (key !== undefined) this.#amountOfKey.set(key, amount)
    return 'given'
  }

  #today(token: number): { day: number; granted: number } {
    const latest = this.#latest.get(token)
    const day = Math.floor(this.nowMs / DAY_MS)
    return latest !== undefined && latest.day >= day ? latest : { day, granted: 0 }
  }
}

function codeOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === 'fulfilled') return 'given'
  return (outcome.reason as { readonly code: string }).code
}
