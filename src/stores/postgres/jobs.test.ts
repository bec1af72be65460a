import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aFailure, aJob, aResult, COST, jobIn, record } from '../../../test/support/job-builders.ts'
import { anAccount, NOW } from '../../../test/support/ledger-builders.ts'
import { Proxy } from '../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { databases } from '../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../test/support/rejection.ts'
import type { TestStore } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'
import type { Jobs } from '../../gateway/ports/media/jobs.ts'
import { LANE_TTL_MS } from './lanes/lane.ts'

const server = await runServer()
const ends: (() => Promise<void>)[] = []

/** Two nodes over one database, and an account with 10 dollars. */
async function setUp() {
  const { url, connections } = await databases.take()
  const clock = fakeClock()
  const open = async (name: string) => {
    const node = await aNode(url, name, clock, { connections })
    ends.unshift(() => node.close())
    return node
  }
  const sql = connections.connect()
  ends.push(() => sql.close())
  const [one, other] = [await open('one'), await open('other')]
  const payer = await aPayer(one)
  const left = async ({ jobs }: { readonly jobs: Jobs }) =>
    (await jobs.due('left_queued', { atMs: clock.now(), limit: 9 })).jobs.map(({ id }) => id)
  const queued = async ({ jobs }: { readonly jobs: Jobs }) => record(jobs, aJob(payer, { held: usd('0.1') }))
  return { clock, sql, open, one, other, payer, left, queued }
}

function aPayer(node: Pick<TestStore, 'accounts' | 'apiKeys'> & { readonly ledger: object }) {
  return anAccount(node as TestStore, { funds: usd('10') })
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await databases.giveBack()
})

describe.skipIf(server === undefined)('jobs in PostgreSQL', () => {
  test('the step of a running job waits for a lost database, and a job that was refused then is ended', async () => {
    const { url } = await databases.take()
    const proxy = Proxy.to(url)
    const node = await aNode(proxy.url(url), 'cut')
    ends.push(
      () => node.close(),
      async () => proxy.stop(),
    )
    const payer = await aPayer(node)
    const running = await record(node.jobs, aJob(payer, { held: usd('0.1') }))
    const refused = aJob(payer, { held: usd('0.1') })
    proxy.answers = 'held'

    const error = await rejection(node.jobs.create(refused))
    const begun = node.jobs.beginSubmit(running.id, NOW)
    proxy.heal()

    expect(error).toMatchObject({ code: 'unavailable' })
    expect(await begun).toMatchObject({ changed: true })
    // It was recorded or not, but it is never submitted.
    const found = await node.jobs.find(refused.id)
    expect(['unknown_submit', undefined]).toContain(found?.state)
  })

  test('jobs in PostgreSQL that two nodes settle, poll and claim at once are settled once, with their money', async () => {
    const { sql, one, other, payer } = await setUp()
    const payers = [payer, await aPayer(one)]
    const jobs = []
    for (let index = 0; index < 8; index += 1) {
      const job = aJob(payers[index % 2]!, { held: COST })
      jobs.push(await jobIn('processing', [one, other][index % 2]!.jobs, job))
      if (index % 4 >= 2) await one.jobs.fail(jobs.at(-1)!.id, { ...aFailure, reason: 'overdue' })
    }
    const page = { atMs: NOW + 9000, limit: 9 }

    const work = jobs.flatMap(({ id }, index) => {
      const [first, second] = index % 3 === 0 ? [other.jobs, one.jobs] : [one.jobs, other.jobs]
      return [
        first.complete(id, aResult()),
        second.fail(id, { ...aFailure, loss: COST }),
        second.complete(id, aResult()),
        first.bookLateCompletion(id, { cost: COST, atMs: NOW + 6000 }),
        second.bookLateCompletion(id, { cost: COST, atMs: NOW + 6000 }),
        first.notePoll(id, { nextPollAtMs: NOW + 8000 }),
        second.claim('poll', page, NOW + 10_000),
        first.claim('watch', page, NOW + 10_000),
      ]
    })
    await Promise.all(work)

    expect(await one.ledger.verify()).toMatchObject({ problems: [] })
    const [sums] = await sql<{ open: bigint; unsettled: bigint; spent: bigint; charged: bigint }[]>`
      SELECT (SELECT CAST(sum(held_media) AS bigint) FROM balances) AS open,
        (SELECT count(*) FROM jobs WHERE state NOT IN ('completed', 'failed')) AS unsettled,
        (SELECT CAST(sum(10000000000 - available) AS bigint) FROM balances) AS spent,
        (SELECT CAST(coalesce(sum(cost), 0) AS bigint) FROM charges) AS charged`
    expect(sums).toEqual({ open: 0n, unsettled: 0n, spent: sums!.charged, charged: sums!.charged })
  })

  test('jobs in PostgreSQL that are queued are left when their node was not seen for 120 seconds', async () => {
    const { clock, one, other, left, queued } = await setUp()
    const { id } = await queued(one)

    clock.advance(LANE_TTL_MS - 1)
    const early = [await left(one), await left(other)]
    clock.advance(1)
    const late = [await left(one), await left(other)]
    await one.ledger.renewHolds()
    const seen = [await left(one), await left(other)]

    expect([early, late, seen]).toEqual([
      [[], []],
      [[id], [id]],
      [[], []],
    ])
  })

  test('jobs in PostgreSQL that are queued are left as soon as their node is closed', async () => {
    const { one, other, left, queued } = await setUp()
    const { id } = await queued(one)
    await queued(other)

    await one.close()

    expect(await left(other)).toEqual([id])
  })

  test('jobs in PostgreSQL have the process that submits them, also after it lost its lane to another', async () => {
    const { clock, open, one, left, queued } = await setUp()
    const before = await queued(one)
    clock.advance(LANE_TTL_MS)
    const late = await open('late')

    const after = [await queued(one), await queued(late)]

    // The late node has the lane of the first one, and the first one that of the second.
    expect([before, ...after].map(({ node }) => node)).toEqual(['lane-1/1', 'lane-2/2', 'lane-1/2'])
    expect(await left(late)).toEqual([before.id])
  })
})
