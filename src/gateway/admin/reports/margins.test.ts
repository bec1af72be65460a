import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { aJob, COST, record, type Payer } from '../../../../test/support/job-builders.ts'
import {
  aCharge,
  aBill,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  hold,
  NOW,
  openWithFunds,
} from '../../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { nanoUsd, usd } from '../../../domain/money.ts'
import { NO_USAGE } from '../../../domain/pricing/usage.ts'
import { marginGroups, marginOf, reportMargins, type Margin, type MarginGroup } from './margins.ts'

const DAY_MS = 86_400_000
const TODAY = Math.floor(NOW / DAY_MS)

/** A known cost of a provider to the last digit, or none. */
const anyCost = fc.option(fc.bigInt({ min: 0n, max: 5_000_000_001n }).map(nanoUsd))
const anyWork = fc.record({
  kind: fc.constantFrom('charge', 'refund', 'compensated', 'abandoned', 'failed_job'),
  payer: fc.nat(1),
  model: fc.constantFrom('a', 'b'),
  provider: fc.constantFrom('main', 'spare'),
  tokens: fc.integer({ min: 1, max: 9 }),
  providerCost: anyCost,
  /** From the day before to the day after. */
  atMs: fc.integer({ min: NOW - DAY_MS, max: NOW + DAY_MS }),
})
type Work = typeof anyWork extends fc.Arbitrary<infer Value> ? Value : never
type Opened = Awaited<ReturnType<typeof openWithFunds>>

/** Refunds are not before their charge, and not before the store's clock. */
function refundedAtMs({ atMs }: Work): number {
  return Math.max(atMs, NOW)
}

async function perform(work: Work, { store, ledger }: Opened, payer: Payer): Promise<void> {
  const { kind, model, provider, tokens, providerCost, atMs } = work
  if (kind === 'failed_job') {
    const job = await record(store.jobs, aJob(payer, { model, provider, createdAtMs: atMs }))
    const cost = providerCost === null ? {} : { providerCost }
    await store.jobs.fail(job.id, { reason: 'result_lost', message: 'Lost.', loss: COST, atMs, ...cost })
    return
  }
  if (kind === 'charge' || kind === 'refund') {
    const held = await hold(ledger, { ...payer, kind: 'text', amount: usd('9') })
    await ledger.captureHold(held, aCharge(payer.apiKeyId, { model, provider, tokens, providerCost, atMs }))
    if (kind === 'charge') return
    const amount = nanoUsd(BigInt(tokens))
    const audit = anAudit({ atMs: refundedAtMs(work) })
    await ledger.refund({ id: anId(), charge: held.id, amount, idempotencyKey: String(held.id.key), audit })
    return
  }
  const { state: _, ...attempt } = { ...anAttempt({ ...payer, atMs }), model, provider }
  if (kind === 'abandoned') {
    const usage = { ...NO_USAGE, input: tokens }
    await store.attempts.record({ ...attempt, state: 'abandoned', usage, providerCost })
    return
  }
  await store.attempts.record({ ...attempt, state: 'timed_out' })
  await store.attempts.bill(attempt, { ...aBill({ tokens }), providerCost })
  await ledger.compensate(attempt, atMs)
}

type Names = Readonly<Record<MarginGroup, string | null>>
/** Revenue, costs and losses in billionths, and the numbers of charges, and of charges and losses without a cost. */
type Row = readonly [bigint, bigint, bigint, number, number, number]

/** What a work should add to the report, worked out without the books: a token is sold for a dollar. */
function* partsOf(work: Work): Generator<readonly [atMs: number, Row]> {
  const { kind, tokens, providerCost, atMs } = work
  const [cost, unknown] = providerCost === null ? [0n, 1] : [providerCost, 0]
  const price = BigInt(tokens) * 1_000_000_000n
  if (kind === 'failed_job' || kind === 'abandoned') yield [atMs, [0n, 0n, cost, 0, 0, unknown]]
  else yield [atMs, [kind === 'compensated' ? 0n : price, cost, 0n, 1, unknown, 0]]
  if (kind === 'refund') yield [refundedAtMs(work), [-BigInt(tokens), 0n, 0n, 0, 0, 0]]
}

function added(left: Row, right: Row): Row {
  return [
    left[0] + right[0],
    left[1] + right[1],
    left[2] + right[2],
    left[3] + right[3],
    left[4] + right[4],
    left[5] + right[5],
  ]
}

const NOTHING: Row = [0n, 0n, 0n, 0, 0, 0]

function rowOf({
  revenue,
  providerCost,
  losses,
  charges,
  chargesWithoutCost,
  lossesWithoutCost,
}: Margin): Row {
  return [revenue, providerCost, losses, charges, chargesWithoutCost, lossesWithoutCost]
}

test('margins are the charges, refunds and losses of each group to the last digit, and verify finds no problem', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyWork, { minLength: 1, maxLength: 25 }), async works => {
      const opened = await openWithFunds(sqlite, usd('1000'))
      const payers = [opened, await anAccount(opened.store, { funds: usd('1000') })] as const
      for (const work of works) await perform(work, opened, payers[work.payer]!)
      const names = await Promise.all(payers.map(payer => namesOf(opened.store, payer)))
      const days = { firstDay: TODAY - 1, lastDay: TODAY + 1 }

      for (const by of marginGroups) {
        const { groups, totals } = await reportMargins({ by, ...days }, opened.store)

        const expected = new Map<string | null, Row>()
        let sum = NOTHING
        for (const work of works)
          for (const [atMs, part] of partsOf(work)) {
            const day = new Date(atMs).toISOString().slice(0, 10)
            const of: Names = { ...work, ...names[work.payer]!, day, project: null }
            expected.set(of[by], added(expected.get(of[by]) ?? NOTHING, part))
            sum = added(sum, part)
          }
        expect(new Map([...groups].map(([name, margin]) => [name, rowOf(margin)]))).toEqual(expected)
        expect(rowOf(totals)).toEqual(sum)
        expect<bigint>(marginOf(totals)).toBe(sum[0] - sum[1] - sum[2])
      }
      expect((await opened.ledger.verify()).problems).toEqual([])
    }),
    { numRuns: 12 },
  )
})

async function namesOf({ accounts, apiKeys }: Opened['store'], { accountId }: Payer) {
  const account = await accounts.findAccountById(accountId)
  const [key] = await apiKeys.list(accountId)
  return { account: account!.publicId, key: key!.publicId }
}

test('the margins by project have the keys of a project together, and those without one last', async () => {
  const { store, ledger, accountId, apiKeyId } = await openWithFunds(sqlite, usd('100'))
  const by = { actor: 'test', atMs: NOW }
  const project = await store.projects.create({ publicId: 'proj_1', accountId, name: 'web', by })
  const key = (id: string) =>
    store.apiKeys.create({
      publicId: id,
      accountId,
      projectId: project.id,
      name: id,
      hash: new Uint8Array(32).fill(id.length),
      prefix: id,
      audit: anAudit(),
    })
  const keys = [await key('key_a'), await key('key_bb')]
  const charge = async (keyId: number, tokens: number) => {
    const held = await hold(ledger, { accountId, kind: 'text', amount: usd('9') })
    await ledger.captureHold(held, aCharge(keyId, { tokens, providerCost: usd('0.5') }))
  }
  await charge(keys[0]!.id, 1)
  await charge(keys[1]!.id, 2)
  await charge(apiKeyId, 4)

  const { groups } = await reportMargins({ by: 'project', firstDay: TODAY, lastDay: TODAY }, store)

  expect([...groups].map(([name, { revenue, providerCost }]) => [name, revenue, providerCost])).toEqual([
    ['proj_1', usd('3'), usd('1')],
    [null, usd('4'), usd('0.5')],
  ])
})
