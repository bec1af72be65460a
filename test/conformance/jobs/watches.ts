import { describe, expect, test } from 'bun:test'
import type { FailureReason } from '../../../src/domain/jobs/job.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import {
  aFailure,
  aJob,
  aResult,
  COST,
  DAY_MS,
  jobIn,
  moneyWith,
  openJobs,
  record,
  soundBalance,
} from '../../support/job-builders.ts'
import { NOW } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** Released a thousand milliseconds after `NOW`. */
const released = { reason: 'submit_unconfirmed', message: 'Released.', atMs: NOW + 1000 } as const
const WATCHED_UNTIL_MS = NOW + 1000 + DAY_MS

/** What happens to jobs that their provider may finish after their money was released. */
export function jobWatchesConform(kind: StoreKind): void {
  async function openReleased() {
    const opened = await openJobs(kind)
    const { id } = await jobIn('unknown_submit', opened.jobs, aJob(opened.payer))
    await opened.jobs.fail(id, released)
    const watched = async (atMs: number) =>
      (await opened.jobs.due('watch', { atMs, limit: 9 })).jobs.map(job => job.id)
    return { ...opened, id, watched }
  }

  describe('a released job', () => {
    test('a released job is watched for 24 hours', async () => {
      const { jobs, id, watched } = await openReleased()

      expect((await jobs.find(id))?.watchUntilMs).toBe(WATCHED_UNTIL_MS)
      expect(await watched(NOW + 1000)).toEqual([id])
      expect(await watched(WATCHED_UNTIL_MS - 1)).toEqual([id])
      expect(await watched(WATCHED_UNTIL_MS)).toEqual([])
    })

    test.each([
      ['overdue', true],
      ['submit_unconfirmed', true],
      ['generation_failed', false],
      ['rejected', false],
      ['rate_limited', false],
      ['provider_unavailable', false],
      ['not_configured', false],
      ['no_job_id', true],
      ['result_lost', false],
    ] as const satisfies readonly (readonly [FailureReason, boolean])[])(
      'a released job that failed as %s is watched: %s',
      async (reason, isWatched) => {
        const { jobs, payer } = await openJobs(kind)
        const { id } = await jobIn('processing', jobs, aJob(payer))

        const { job } = await jobs.fail(id, { ...released, reason })

        expect(job.watchUntilMs).toBe(isWatched ? WATCHED_UNTIL_MS : null)
      },
    )

    test('a released job whose submission never began is not watched', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await record(jobs, aJob(payer))

      const { job } = await jobs.fail(id, released)

      expect(job.watchUntilMs).toBeNull()
    })

    test('a released job that its provider finishes stays failed, and its price is a loss', async () => {
      const { store, jobs, payer, id, watched } = await openReleased()

      const isBooked = await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 2000 })

      expect(isBooked).toBe(true)
      expect(await jobs.find(id)).toMatchObject({
        state: 'failed',
        cost: null,
        loss: COST,
        watchUntilMs: null,
      })
      expect(await watched(NOW + 2000)).toEqual([])
      // The customer neither got the amount nor spent it.
      expect(await soundBalance(store, payer.accountId)).toEqual({ ...moneyWith(), credited: usd('10') })
      const [line] = await store.ledger.statement(payer.accountId, { limit: 1 })
      expect(line).toMatchObject({ id, kind: 'loss', amount: ZERO })
      expect((await jobs.history(id)).at(-1)).toMatchObject({ state: 'failed', atMs: NOW + 2000 })
    })

    test('a released job that its provider finishes or fails keeps what the provider said that it cost', async () => {
      const [made, failed] = [await openReleased(), await openReleased()]

      const end = { providerCost: usd('0.5'), atMs: NOW + 2000 }
      await made.jobs.bookLateCompletion(made.id, { cost: COST, ...end })
      await failed.jobs.endWatch(failed.id, { detail: 'It failed.', ...end })

      for (const { jobs, id, store, payer } of [made, failed]) {
        expect((await jobs.find(id))?.providerCost).toBe(usd('0.5'))
        await soundBalance(store, payer.accountId)
      }
    })

    test('a released job is booked once, even if the result was free', async () => {
      const { store, jobs, payer, id } = await openReleased()

      const booked = [
        await jobs.bookLateCompletion(id, { cost: ZERO, atMs: NOW + 2000 }),
        await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 3000 }),
      ]

      expect(booked).toEqual([true, false])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
    })

    test('a released job is not booked when its watch is over', async () => {
      const { store, jobs, payer, id } = await openReleased()

      const isBooked = await jobs.bookLateCompletion(id, { cost: COST, atMs: WATCHED_UNTIL_MS })

      expect(isBooked).toBe(false)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
    })

    test('a released job is not completed by its result', async () => {
      const { store, jobs, payer, id } = await openReleased()

      const { changed, job } = await jobs.complete(id, aResult())

      expect([changed, job.state]).toEqual([false, 'failed'])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
    })

    test('a released job that its provider accepts late stays failed, and is watched under its upstream id', async () => {
      const { jobs, id, watched } = await openReleased()

      const accepted = await jobs.accept(id, { upstreamId: 'up-late', atMs: NOW + 2, nextPollAtMs: NOW + 3 })

      expect(accepted).toMatchObject({ changed: false, job: { state: 'failed', upstreamId: 'up-late' } })
      expect(await watched(NOW + 2000)).toEqual([id])
      const again = await jobs.accept(id, { upstreamId: 'up-other', atMs: NOW + 2, nextPollAtMs: NOW + 3 })
      expect(again).toEqual(accepted)
    })

    test('a released job is watched no more once its provider cannot finish it', async () => {
      const { jobs, id, watched } = await openReleased()
      const before = await jobs.history(id)

      await jobs.endWatch(id, { detail: 'The provider failed it.', atMs: NOW + 2000 })
      await jobs.endWatch(id, { detail: 'Again.', atMs: NOW + 2001 })

      expect(await watched(NOW + 2000)).toEqual([])
      const event = { state: 'failed', detail: 'The provider failed it.', atMs: NOW + 2000 } as const
      expect(await jobs.history(id)).toEqual([...before, event])
    })
  })

  test.each(['queued', 'processing', 'unknown_submit', 'completed'] as const)(
    'a %s job has no late completion',
    async state => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn(state, jobs, aJob(payer))

      const isBooked = await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 2000 })

      expect(isBooked).toBe(false)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(state))
    },
  )

  describe('a job whose result is lost', () => {
    const lost = { reason: 'result_lost', message: 'Lost.', loss: COST, atMs: NOW + 1000 } as const

    test('a job whose result is lost costs its customer nothing, and its price is a loss in the step that ends it', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer))

      const { changed, job } = await jobs.fail(id, lost)

      expect([changed, job]).toMatchObject([true, { state: 'failed', cost: null, loss: COST }])
      expect(await soundBalance(store, payer.accountId)).toEqual({ ...moneyWith(), credited: usd('10') })
      const statement = await store.ledger.statement(payer.accountId, { limit: 3 })
      expect(statement.map(line => [line.kind, line.amount])).toEqual([
        ['loss', ZERO],
        ['release', usd('4')],
        ['hold', usd('-4')],
      ])
    })

    test('a job whose result is lost is booked once, however many callers see it', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer))

      const ends = await Promise.all([jobs.fail(id, lost), jobs.fail(id, lost), jobs.fail(id, lost)])

      expect(ends.filter(({ changed }) => changed)).toHaveLength(1)
      expect(await store.ledger.statement(payer.accountId, { limit: 1 })).toMatchObject([{ kind: 'loss' }])
      expect(await soundBalance(store, payer.accountId)).toEqual({ ...moneyWith(), credited: usd('10') })
    })

    test('a job whose result is lost has no loss to book if it has ended before', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('completed', jobs, aJob(payer))

      const { changed, job } = await jobs.fail(id, lost)

      expect([changed, job.loss]).toEqual([false, null])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('completed'))
    })
  })

  test('a job that its provider failed has no late completion', async () => {
    const { store, jobs, payer } = await openJobs(kind)
    const { id } = await jobIn('processing', jobs, aJob(payer))
    await jobs.fail(id, aFailure)

    const isBooked = await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 6000 })

    expect(isBooked).toBe(false)
    expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
  })
}
