import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { at } from '../../../test/support/account-builders.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aJob, jobIn, record } from '../../../test/support/job-builders.ts'
import { aCharge, anAccount, anId, changeLimits, hold } from '../../../test/support/ledger-builders.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { databases } from '../../../test/support/postgres/store-kind.ts'
import { HOLD_TTL_MS } from '../../domain/ledger/hold.ts'
import { idTimeMs } from '../../domain/ids.ts'
import { usd } from '../../domain/money.ts'
import { STALE_AFTER_MS } from '../../reconciler/reconcile-jobs.ts'

const server = await runServer()
const ends: (() => Promise<void>)[] = []
/** Five minutes before a day, a week and a month end: it is the next month on the machine of the fast node. */
const LATE = Date.parse('2027-02-28T23:55:00Z')
const MINUTE = 60_000

/** Two nodes: the clock of one machine is ten minutes slow, and that of the other is ten minutes fast. */
async function setUp() {
  const { url, connections } = await databases.take()
  const sql = new SQL({ url, max: 1 })
  ends.push(() => sql.close())
  const clock = fakeClock(LATE)
  const open = async (machine: 'slow' | 'fast') => {
    const node = await aNode(url, machine, clock, { machine, connections })
    ends.unshift(() => node.close())
    return node
  }
  const [slow, fast] = [await open('slow'), await open('fast')]
  const payer = await anAccount(slow, { funds: usd('10') })
  return { sql, clock, slow, fast, nodes: [slow, fast] as const, payer }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await databases.giveBack()
})

describe.skipIf(server === undefined)('nodes whose clocks are 20 minutes apart', () => {
  test('have one time and ids of that time, and know how wrong their machines are', async () => {
    const { clock, nodes } = await setUp()

    clock.advance(MINUTE)

    expect(nodes.map(node => node.clock.now())).toEqual([LATE + MINUTE, LATE + MINUTE])
    expect(nodes.map(node => idTimeMs(node.newId()))).toEqual([LATE + MINUTE, LATE + MINUTE])
    expect(nodes.map(node => node.clockOffsetMs())).toEqual([-600_000, 600_000])
  })

  test('claim jobs for the same time, and lose a submission only when it is stale', async () => {
    const { clock, slow, fast, nodes, payer } = await setUp()
    const job = (node: (typeof nodes)[number]) =>
      aJob(payer, {
        held: usd('0.1'),
        createdAtMs: node.clock.now(),
        deadlineAtMs: node.clock.now() + 60 * MINUTE,
      })
    const polled = await jobIn('processing', slow.jobs, job(slow))
    await fast.jobs.notePoll(polled.id, { nextPollAtMs: slow.clock.now() })
    const queued = await record(slow.jobs, job(slow))
    await slow.jobs.beginSubmit(queued.id, slow.clock.now())
    const stale = async () =>
      (await fast.jobs.due('stale_queued', { atMs: fast.clock.now() - STALE_AFTER_MS, limit: 9 })).jobs.length
    const claimed = async (node: (typeof nodes)[number]) =>
      (await node.jobs.claim('poll', { atMs: node.clock.now(), limit: 9 }, node.clock.now() + MINUTE)).jobs
        .length
    const overdue = async () =>
      (await fast.jobs.due('overdue', { atMs: fast.clock.now(), limit: 9 })).jobs.length

    const now = [await claimed(slow), await claimed(fast), await stale(), await overdue()]
    clock.advance(MINUTE)
    const after = [await claimed(fast), await claimed(slow)]
    clock.advance(STALE_AFTER_MS)

    expect(now).toEqual([1, 0, 0, 0])
    expect(after).toEqual([1, 0])
    expect([await stale(), await overdue()]).toEqual([1, 0])
  })

  test('hold money without a job for the same time', async () => {
    const { clock, slow, fast, nodes, payer } = await setUp()
    for (const { ledger } of nodes)
      await hold(ledger, { accountId: payer.accountId, kind: 'media', amount: usd('1') })
    const expired = async () => [
      (await slow.ledger.expiredHolds(9)).length,
      (await fast.ledger.expiredHolds(9)).length,
    ]

    clock.advance(HOLD_TTL_MS - 1)
    const early = await expired()
    clock.advance(1)

    expect(early).toEqual([0, 0])
    expect(await expired()).toEqual([2, 2])
  })

  test('count charges, budgets and minutes in the day, month and minute of the database', async () => {
    const { sql, clock, slow, fast, nodes, payer } = await setUp()
    const { accountId, apiKeyId } = payer
    await changeLimits(slow, payer, {
      limits: { requests_per_minute: 2 },
      budgets: { month: usd('3') },
    })
    const ask = async (node: (typeof nodes)[number]) => {
      const demand = { apiKeyId, model: 'gpt-x', tokens: 0, amount: usd('1') }
      const held = { id: anId(), accountId, kind: 'text', amount: usd('1') } as const
      const placed = await node.ledger.placeHold({ ...held, demand, atMs: node.clock.now() })
      if (placed.outcome === 'held')
        await node.ledger.captureHold(held, { ...aCharge(apiKeyId), cost: usd('1'), atMs: node.clock.now() })
      return placed.outcome
    }

    const first = [await ask(slow), await ask(fast), await ask(slow)]
    clock.advance(MINUTE)
    const second = [await ask(fast), await ask(slow)]
    clock.advance(5 * MINUTE)
    const inMarch = await ask(slow)
    const days = await sql<{ charges: number }[]>`
      SELECT CAST(sum(charges) AS integer) AS charges FROM usage_days GROUP BY day ORDER BY day`

    expect(first).toEqual(['held', 'held', 'limited'])
    expect(second).toEqual(['held', 'limited'])
    expect(inMarch).toBe('held')
    expect(days.map(({ charges }) => charges)).toEqual([3, 1])
    expect(await slow.ledger.verify()).toMatchObject({ problems: [] })
  })

  test('try a message of a webhook again at the same time', async () => {
    const { clock, slow, fast } = await setUp()
    const webhook = await slow.webhooks.create({
      publicId: 'whk_1',
      accountId: undefined,
      url: 'https://example.com/hook',
      events: ['books.problem'],
      note: '',
      secret: 'whsec_AAAA',
      by: at(slow.clock.now()),
    })
    await slow.webhooks.report({ type: 'books.problem', data: {}, atMs: slow.clock.now(), once: 'one' })
    const due = await slow.webhookQueue.next(webhook.id, slow.clock.now())
    const failed = { durationMs: 5, status: 500, problem: 'status 500' }
    await slow.webhookQueue.record(due!, { atMs: slow.clock.now(), ...failed })

    const early = await fast.webhookQueue.next(webhook.id, fast.clock.now())
    clock.advance(10 * MINUTE)

    expect(early).toBeUndefined()
    expect(await fast.webhookQueue.next(webhook.id, fast.clock.now())).toBeDefined()
  })

  test('take a lease from each other only after its time', async () => {
    const { clock, slow, fast } = await setUp()
    await slow.leases.take('sweep', 5 * MINUTE)

    const early = await fast.leases.take('sweep', MINUTE)
    clock.advance(5 * MINUTE)

    expect(early).toBeUndefined()
    expect(await fast.leases.take('sweep', MINUTE)).toBeDefined()
  })
})
