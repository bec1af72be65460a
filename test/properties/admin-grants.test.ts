import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { GrantAllowance } from '../../src/domain/admin/admin-token.ts'
import { formatId, type Id } from '../../src/domain/ids.ts'
import { nanoUsd, ZERO } from '../../src/domain/money.ts'
import { aCredit, anAccount, anAudit, available, NOW } from '../support/ledger-builders.ts'
import { conformsOnPostgres } from '../support/postgres/store-kind.ts'
import { sqlite, type StoreKind, type TestStore } from '../support/test-store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const ACCOUNTS = 2
/** Two support users and a token, with what each may grant a day. */
const GRANTERS = [
  { of: 'user', perDay: 100 },
  { of: 'user', perDay: 60 },
  { of: 'token', perDay: 100 },
] as const

type Grant = {
  readonly node: 'store' | 'other'
  readonly granter: number
  readonly account: number
  readonly amount: number
  /** The idempotency key within the account; a grant with the same key and amount is a retry, by whomever. */
  readonly key: number | undefined
}
type Step =
  | { readonly step: 'clock'; readonly byHours: number }
  | { readonly step: 'restart' }
  /** All at once, in no order if they go to two nodes. */
  | { readonly step: 'race'; readonly grants: readonly Grant[] }

const aGrant: fc.Arbitrary<Grant> = fc.record({
  node: fc.constantFrom('store', 'other'),
  granter: fc.nat({ max: GRANTERS.length - 1 }),
  account: fc.nat({ max: ACCOUNTS - 1 }),
  amount: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(20, 40)),
  key: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
})
/** Grants of one granter to both accounts through both nodes, of which few fit into the day. */
const aRush: fc.Arbitrary<readonly Grant[]> = fc
  .tuple(aGrant, fc.array(fc.integer({ min: 30, max: 60 }), { minLength: 2, maxLength: 4 }))
  .map(([{ granter }, amounts]) =>
    amounts.map((amount, index) => ({
      node: index % 2 === 0 ? 'store' : 'other',
      granter,
      account: index % 2,
      amount,
      key: undefined,
    })),
  )
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
      grants: fc.oneof(fc.array(aGrant, { minLength: 1, maxLength: 8 }), aRush),
    }),
  },
)

type Nodes = { readonly store: TestStore; readonly other: TestStore }

/** `open` gives each run its nodes, and restarts them if it can. */
function grantsFitIntoDays(
  numRuns: number,
  open: () => Promise<{ readonly nodes: Nodes; readonly restart?: () => Promise<Nodes> }>,
): void {
  test('after races on two nodes, retries, restarts and clock steps, each granted what fits into its day, and no more', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 10 }), async steps => {
        const { nodes, restart } = await open()
        const run = await Run.start(nodes)
        for (const step of steps) {
          if (step.step === 'race') await run.race(step.grants)
          else if (step.step === 'clock') run.nowMs += step.byHours * HOUR_MS
          else run.nodes = (await restart?.()) ?? run.nodes
        }
        await run.checkBooks()
      }),
      { numRuns },
    )
  }, 480_000)
}

grantsFitIntoDays(40, async () => {
  const { store, other, reopen } = await sqlite.open()
  return {
    nodes: { store, other },
    // After a restart, the store has one node.
    restart: async () => {
      const store = await reopen()
      return { store, other: store }
    },
  }
})
conformsOnPostgres((kind: StoreKind) => {
  let opened: ReturnType<StoreKind['open']> | undefined
  // Its runs share the nodes, and each has granters and accounts of its own.
  grantsFitIntoDays(15, async () => ({ nodes: await (opened ??= kind.open()) }))
})

type Granter = GrantAllowance & { latest?: { readonly day: number; readonly granted: bigint } }
type Given = { readonly id: string; readonly amount: bigint }
type Request = Parameters<TestStore['ledger']['credit']>[0]

/** The grants on a store, and what they should be. */
class Run {
  nowMs = NOW
  nodes: Nodes
  readonly #accountIds: readonly number[]
  readonly #granters: readonly Granter[]
  readonly #givenByKey = new Map<string, Given>()
  /** The amounts that each account got, in no order. */
  readonly #amounts: readonly bigint[][]

  private constructor(nodes: Nodes, accountIds: readonly number[], granters: readonly Granter[]) {
    this.nodes = nodes
    this.#accountIds = accountIds
    this.#granters = granters
    this.#amounts = accountIds.map(() => [])
  }

  static async start(nodes: Nodes): Promise<Run> {
    const { store } = nodes
    const accountIds: number[] = []
    while (accountIds.length < ACCOUNTS) accountIds.push((await anAccount(store, { funds: ZERO })).accountId)
    const granters: Granter[] = []
    for (const { of, perDay } of GRANTERS)
      granters.push({ of, perDay: nanoUsd(BigInt(perDay)), id: await aGranter(store, of, BigInt(perDay)) })
    return new Run(nodes, accountIds, granters)
  }

  async race(grants: readonly Grant[]): Promise<void> {
    const requests = grants.map(grant => this.#requestOf(grant))
    const givenBefore = new Map(this.#givenByKey)

    const outcomes = await Promise.allSettled(
      requests.map((request, index) => this.nodes[grants[index]!.node].ledger.credit(request)),
    )

    // A retry gets the credit of the first one, which has the id of its own request.
    const credits = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    for (const [index, request] of requests.entries())
      if (credits.some(({ id }) => isSame(id, request.id))) this.#note(grants[index]!, request)
    for (const [index, outcome] of outcomes.entries()) {
      const [grant, request] = [grants[index]!, requests[index]!]
      if (outcome.status === 'fulfilled') this.#checkGiven(request, outcome.value)
      else this.#checkRefused(grant, outcome.reason as { readonly code: string }, givenBefore)
    }
    await this.#checkSums()
  }

  async checkBooks(): Promise<void> {
    expect((await this.nodes.store.ledger.verify()).problems).toEqual([])
  }

  #requestOf({ granter, account, amount, key }: Grant): Request {
    const { of, id, perDay } = this.#granters[granter]!
    return {
      ...aCredit(this.#accountIds[account]!),
      source: 'promotions',
      amount: nanoUsd(BigInt(amount)),
      ...(key !== undefined && { idempotencyKey: `key-${key}` }),
      allowance: { of, id, perDay },
      audit: anAudit({ atMs: this.nowMs }),
    }
  }

  /** A grant that moved money. */
  #note({ granter, account }: Grant, request: Request): void {
    const { day, granted } = this.#today(granter)
    this.#granters[granter]!.latest = { day, granted: granted + request.amount }
    this.#amounts[account]!.push(request.amount)
    const given = { id: formatId('op', request.id), amount: request.amount }
    if (request.idempotencyKey !== undefined) this.#givenByKey.set(keyOf(request), given)
  }

  #checkGiven(request: Request, credit: { readonly id: Id; readonly amount: bigint }): void {
    const first = request.idempotencyKey === undefined ? undefined : this.#givenByKey.get(keyOf(request))
    expect<Given>({ id: formatId('op', credit.id), amount: credit.amount }).toEqual({
      id: first?.id ?? formatId('op', request.id),
      amount: request.amount,
    })
  }

  #checkRefused(grant: Grant, { code }: { readonly code: string }, before: ReadonlyMap<string, Given>): void {
    const request = this.#requestOf(grant)
    const isKeyed = request.idempotencyKey !== undefined
    const reused = isKeyed ? this.#givenByKey.get(keyOf(request)) : undefined
    const repeated = isKeyed ? before.get(keyOf(request)) : undefined
    expect(repeated?.amount).not.toBe(request.amount)
    if (reused !== undefined && reused.amount !== request.amount && code === 'idempotency_key_reuse') return
    expect(code).toBe('grants_per_day_exceeded')
    // Within a race the sum of the day only grows, so what was refused does not fit after it either.
    const { perDay } = this.#granters[grant.granter]!
    expect(this.#today(grant.granter).granted + request.amount).toBeGreaterThan(perDay)
  }

  async #checkSums(): Promise<void> {
    const { ledger, adminTokens, users } = this.nodes.other
    for (const { of, id, perDay, latest } of this.#granters) {
      const stored = await (of === 'user' ? users : adminTokens).latestGrants(id)
      expect<object | undefined>(stored).toEqual(latest)
      expect(stored?.granted ?? 0n).toBeLessThanOrEqual(perDay)
    }
    for (const [index, accountId] of this.#accountIds.entries()) {
      const amounts = this.#amounts[index]!
      const lines = await ledger.statement(accountId, { limit: 500 })
      expect<bigint[]>(lines.map(({ amount }) => amount).sort(byAmount)).toEqual(amounts.sort(byAmount))
      expect<bigint>(await available(ledger, accountId)).toBe(amounts.reduce((sum, one) => sum + one, 0n))
    }
  }

  #today(granter: number): { readonly day: number; readonly granted: bigint } {
    const { latest } = this.#granters[granter]!
    const day = Math.floor(this.nowMs / DAY_MS)
    return latest !== undefined && latest.day >= day ? latest : { day, granted: 0n }
  }
}

function keyOf({ accountId, idempotencyKey = '' }: Request): string {
  return `${accountId} ${idempotencyKey}`
}

function isSame(one: Id, other: Id): boolean {
  return one.key === other.key && one.tail === other.tail
}

function byAmount(one: bigint, other: bigint): number {
  return Number(one - other)
}

async function aGranter({ users, adminTokens }: TestStore, of: 'user' | 'token', amount: bigint) {
  const name = crypto.randomUUID()
  const grantsPerDay = nanoUsd(amount)
  const terms = { name, grantsPerDay, audit: anAudit() }
  const { id } =
    of === 'user'
      ? await users.create({
          ...terms,
          publicId: `usr_${name}`,
          email: `${name}@example.com`,
          role: 'support',
          accountId: null,
        })
      : await adminTokens.create({
          ...terms,
          publicId: `tok_${name}`,
          hash: crypto.getRandomValues(new Uint8Array(32)),
          prefix: 'tg_admin_abcd',
          scopes: ['grants'],
          expiresAtMs: null,
        })
  return id
}
