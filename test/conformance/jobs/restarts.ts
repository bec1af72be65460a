import { describe, expect, test } from 'bun:test'
import { jobTransitions, type JobState } from '../../../src/domain/jobs/job.ts'
import { HOLD_TTL_MS } from '../../../src/domain/ledger/hold.ts'
import { usd } from '../../../src/domain/money.ts'
import {
  aJob,
  aResult,
  jobIn,
  moneyWith,
  moveTo,
  openJobs,
  record,
  soundBalance,
} from '../../support/job-builders.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { NOW } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

const states = Object.keys(jobTransitions) as JobState[]

/** What a new process finds of the jobs of the one before. */
export function jobRestartsConform(kind: StoreKind): void {
  describe('after a restart', () => {
    test.each(states)('a %s job, its history and its money are as they were', async state => {
      const { jobs, payer, reopen } = await openJobs(kind)
      const before = await jobIn(state, jobs, aJob(payer))
      const history = await jobs.history(before.id)

      const store = await reopen()

      expect(await store.jobs.find(before.id)).toEqual(before)
      expect(await store.jobs.history(before.id)).toEqual(history)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(state))
    })

    test.each(states)('a %s job moves on, and its money with it', async state => {
      const { jobs, payer, reopen } = await openJobs(kind)
      const { id } = await jobIn(state, jobs, aJob(payer))
      const store = await reopen()

      const { changed, job } = await moveTo.failed(store.jobs, id)

      expect(changed).toBe(state !== 'completed' && state !== 'failed')
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(job.state))
    })

    test('the charge of a job has the tags and the user of its request', async () => {
      const { jobs, payer, reopen } = await openJobs(kind)
      const attribution = { tags: new Map([['team', 'a']]), userId: 'ada-17' }
      const { id } = await jobIn('processing', jobs, aJob(payer, attribution))
      const store = await reopen()
      const placed = await store.ledger.statement(payer.accountId, { limit: 1 })

      await store.jobs.complete(id, aResult())

      expect(placed).toMatchObject([{ kind: 'hold', ...attribution }])
      expect(await store.jobs.find(id)).toMatchObject(attribution)
      expect(await store.ledger.usage(payer.accountId, { limit: 10 })).toMatchObject([attribution])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('completed'))
    })

    test('a submit that had begun is not begun again', async () => {
      const { jobs, payer, reopen } = await openJobs(kind)
      const { id } = await jobIn('queued', jobs, aJob(payer))

      const begun = await (await reopen()).jobs.beginSubmit(id, NOW + 9000)

      expect(begun.changed).toBe(false)
    })

    test('an idempotency key still gives its job', async () => {
      const { jobs, payer, reopen } = await openJobs(kind)
      const idempotency = { key: 'k', fingerprint: 'f' }
      const first = await record(jobs, aJob(payer, { idempotency }))

      const repeat = await (await reopen()).jobs.create(aJob(payer, { idempotency }))

      expect(repeat).toEqual({ outcome: 'repeated', job: first })
    })

    test('the queued jobs that a process left are found, and those of running processes are not', async () => {
      const clock = fakeClock()
      const { store, other, payer, reopen } = await openJobs(kind, { clock })
      const cheap = () => aJob(payer, { held: usd('0.1') })
      const left = await jobIn('queued', store.jobs, cheap())
      const unbegun = await record(store.jobs, cheap())
      await jobIn('processing', store.jobs, cheap())
      const beforehand = await store.jobs.due('left_queued', { atMs: NOW, limit: 9 })
      // On many nodes, a process that is silent for that long has ended.
      clock.advance(HOLD_TTL_MS)
      // The other node may still be submitting it.
      await jobIn('queued', other.jobs, cheap())
      const { jobs } = await reopen()
      await jobIn('queued', jobs, cheap())
      const { jobs: found } = await jobs.due('left_queued', { atMs: NOW, limit: 9 })

      expect(beforehand.jobs).toEqual([])
      expect(found.map(({ id }) => id)).toEqual([left.id, unbegun.id])
      expect(found.map(({ submittedAtMs }) => submittedAtMs)).toEqual([NOW + 500, null])
    })
  })
}
