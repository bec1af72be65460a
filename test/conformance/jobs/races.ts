import { describe, expect, test } from 'bun:test'
import { usd } from '../../../src/domain/money.ts'
import { UpstreamIdTakenError, type Jobs } from '../../../src/gateway/ports/media/jobs.ts'
import {
  aFailure,
  aJob,
  aResult,
  COST,
  jobIn,
  moneyWith,
  moveTo,
  openJobs,
  record,
  soundBalance,
} from '../../support/job-builders.ts'
import { anAccount, NOW } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What two nodes over one store must do when they see the same job at the same time. */
export function jobRacesConform(kind: StoreKind): void {
  async function openTwo() {
    const { store, other, ...opened } = await openJobs(kind)
    return { ...opened, store, both: [store.jobs, other.jobs] as const }
  }

  /** Both orders, because the node that asks first need not be the one that commits first. */
  const orders = [
    ['first', (both: readonly Jobs[]) => both],
    ['second', (both: readonly Jobs[]) => both.toReversed()],
  ] as const

  describe.each(orders)('two nodes, the %s one asking first', (_, ordered) => {
    test('a job that two nodes complete is charged once', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const { id } = await jobIn('processing', jobs, aJob(payer))

      const ends = await Promise.all(
        ordered(both).map((node, index) => node.complete(id, aResult({ atMs: NOW + index }))),
      )

      expect(ends.filter(({ changed }) => changed)).toHaveLength(1)
      expect(ends[0]!.job).toEqual(ends[1]!.job)
      expect(await store.ledger.usage(payer.accountId, { limit: 5 })).toHaveLength(1)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('completed'))
    })

    test('a job that one node completes and another fails ends in one of the two ways', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const { id } = await jobIn('processing', jobs, aJob(payer))
      const [one, two] = ordered(both)

      const [completed, failed] = await Promise.all([one!.complete(id, aResult()), two!.fail(id, aFailure)])

      expect([completed, failed].filter(({ changed }) => changed)).toHaveLength(1)
      expect(completed.job).toEqual(failed.job)
      expect(completed.job.state).toBe(completed.changed ? 'completed' : 'failed')
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(completed.job.state))
    })

    test('a job that one node finds after another has read it as overdue is not released', async () => {
      const { store, both, payer } = await openTwo()
      const [one, two] = ordered(both)
      const { id, deadlineAtMs } = await jobIn('unknown_submit', one!, aJob(payer))

      const found = await one!.accept(id, { upstreamId: 'up-found', atMs: NOW, nextPollAtMs: NOW })
      const released = await two!.fail(id, { ...aFailure, deadlineAtMs })

      expect([found.changed, released.changed]).toEqual([true, false])
      expect(released.job).toEqual(found.job)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing'))
    })

    test('a submission that one node begins after another has read it as not begun is not given up', async () => {
      const { both, jobs, payer } = await openTwo()
      const [one, two] = ordered(both)
      const { id, submittedAtMs } = await record(jobs, aJob(payer))

      const begun = await one!.beginSubmit(id, NOW)
      const lost = await two!.loseSubmit(id, {
        problem: 'Nothing was sent.',
        atMs: NOW,
        deadlineAtMs: NOW,
        submittedAtMs,
      })

      expect([begun.changed, lost.changed]).toEqual([true, false])
      expect(lost.job).toEqual(begun.job)
    })

    test('the money of a job that two nodes fail is freed once', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const { id } = await jobIn('unknown_submit', jobs, aJob(payer))

      const ends = await Promise.all(ordered(both).map(node => node.fail(id, aFailure)))

      expect(ends.filter(({ changed }) => changed)).toHaveLength(1)
      const { ledger } = store
      const statement = await ledger.statement(payer.accountId, { limit: 9 })
      expect(statement.filter(line => line.kind === 'release')).toHaveLength(1)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
    })

    test('of two nodes that begin a submission, one does', async () => {
      const { jobs, both, payer } = await openTwo()
      const { id } = await record(jobs, aJob(payer))

      const begun = await Promise.all(ordered(both).map((node, index) => node.beginSubmit(id, NOW + index)))

      expect(begun.filter(({ changed }) => changed)).toHaveLength(1)
      const events = await jobs.history(id)
      expect(events.map(({ detail }) => detail)).toEqual([null, 'The submission began.'])
    })

    test('a job that one node accepts and another loses is found', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const { id } = await jobIn('queued', jobs, aJob(payer))
      const [one, two] = ordered(both)

      const [accepted, lost] = await Promise.all([
        moveTo.processing(one!, id),
        moveTo.unknown_submit(two!, id),
      ])

      expect(accepted.changed).toBe(true)
      expect((await jobs.find(id))?.state).toBe('processing')
      expect((await jobs.history(id)).some(({ state }) => state === 'unknown_submit')).toBe(lost.changed)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing'))
    })

    test('of two jobs that two nodes accept with one upstream id, one has it', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const ids = [
        (await jobIn('queued', jobs, aJob(payer))).id,
        (await jobIn('queued', jobs, aJob(payer))).id,
      ]
      const to = { upstreamId: 'up-shared', atMs: NOW, nextPollAtMs: NOW }

      const outcomes = await Promise.allSettled(
        ordered(both).map((node, index) => node.accept(ids[index]!, to)),
      )

      const refused = outcomes.filter(({ status }) => status === 'rejected')
      expect(refused).toEqual([{ status: 'rejected', reason: expect.any(UpstreamIdTakenError) }])
      const found = await Promise.all(ids.map(id => jobs.find(id)))
      expect(found.map(job => job!.state).sort()).toEqual(['processing', 'queued'])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing', 'queued'))
    })

    test('a late completion that two nodes book is booked once, and costs the customer nothing', async () => {
      const { store, jobs, both, payer } = await openTwo()
      const { id } = await jobIn('processing', jobs, aJob(payer))
      await jobs.fail(id, { reason: 'overdue', message: 'Late.', atMs: NOW })

      const booked = await Promise.all(
        ordered(both).map(node => node.bookLateCompletion(id, { cost: COST, atMs: NOW + 1 })),
      )

      expect(booked.filter(isBooked => isBooked)).toHaveLength(1)
      const statement = await store.ledger.statement(payer.accountId, { limit: 9 })
      expect(statement.filter(line => line.kind === 'loss')).toHaveLength(1)
      const { available, held } = await soundBalance(store, payer.accountId)
      expect({ available, held }).toEqual({ available: usd('10'), held: moneyWith().held })
    })

    test('of two nodes that archive a job, one does', async () => {
      const { jobs, both, payer } = await openTwo()
      const { id } = await jobIn('completed', jobs, aJob(payer))

      const archived = await Promise.all(ordered(both).map(node => node.archive(id, NOW + 9)))

      expect(archived.filter(({ changed }) => changed)).toHaveLength(1)
    })
  })

  test('of two jobs of two accounts that two nodes accept with one upstream id, one has it', async () => {
    const { store, jobs, both, payer } = await openTwo()
    const payers = [payer, await anAccount(store, { funds: usd('10') })]

    for (let pair = 0; pair < 5; pair += 1) {
      const cheap = payers.map(of => jobIn('queued', jobs, aJob(of, { held: usd('0.1') })))
      const made = await Promise.all(cheap)
      const to = { upstreamId: `up-shared-${pair}`, atMs: NOW, nextPollAtMs: NOW }

      const outcomes = await Promise.allSettled(made.map(({ id }, index) => both[index]!.accept(id, to)))

      const refused = outcomes.filter(({ status }) => status === 'rejected')
      expect(refused).toEqual([{ status: 'rejected', reason: expect.any(UpstreamIdTakenError) }])
    }
  })

  test('of 50 jobs that two nodes create at once on a balance for 5, five are created', async () => {
    const { store, both, payer } = await openTwo()

    const created = await Promise.all(
      Array.from({ length: 50 }, (_, index) => both[index % 2]!.create(aJob(payer, { held: usd('2') }))),
    )

    expect(created.filter(({ outcome }) => outcome === 'created')).toHaveLength(5)
    expect(created.filter(({ outcome }) => outcome === 'refused')).toHaveLength(45)
    expect(await soundBalance(store, payer.accountId)).toMatchObject({
      available: 0n,
      held: { media: usd('10') },
    })
  })
}
