import { describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/domain/ids.ts'
import type { JobState } from '../../../src/domain/jobs/job.ts'
import type { Jobs, ProviderWork } from '../../../src/gateway/ports/media/jobs.ts'
import { aJob, DAY_MS, jobIn, moveTo, openJobs, soundBalance } from '../../support/job-builders.ts'
import { anId, NOW } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'
import { usd } from '../../../src/domain/money.ts'

/** When the jobs of `moveTo` are due for a poll. */
const DUE_MS = NOW + 3000
const UNTIL_MS = DUE_MS + 40_000

/** What two nodes over one store must do when both ask providers about jobs. */
export function jobClaimsConform(kind: StoreKind): void {
  async function openWith(states: readonly JobState[]) {
    const opened = await openJobs(kind)
    const ids: Id[] = []
    for (const state of states)
      ids.push((await jobIn(state, opened.jobs, aJob(opened.payer, { held: usd('0.1') }))).id)
    return { ...opened, other: opened.other.jobs, ids }
  }

  async function claimed(
    jobs: Jobs,
    { work = 'poll', atMs = DUE_MS, limit = 100, untilMs = UNTIL_MS }: Partial<Claim> = {},
  ): Promise<readonly Id[]> {
    return (await jobs.claim(work, { atMs, limit }, untilMs)).jobs.map(({ id }) => id)
  }

  describe('a claim', () => {
    test('a claim gives each job to one of two nodes that ask at the same time', async () => {
      const { jobs, other, ids } = await openWith(Array.from({ length: 6 }, () => 'processing' as const))

      const got = await Promise.all([
        claimed(jobs, { limit: 4 }),
        claimed(other, { limit: 4 }),
        claimed(jobs, { limit: 4 }),
      ])

      // Which node comes first is open, and that each job has one claim is not.
      expect(got.map(page => page.length).toSorted((left, right) => left - right)).toEqual([0, 2, 4])
      expect(got.flat().toSorted(byTail)).toEqual(ids.toSorted(byTail))
    })

    test('a claim gives the jobs as they are then, with the end of the claim as their next poll', async () => {
      const { jobs, ids } = await openWith(['processing'])
      const before = await jobs.find(ids[0]!)

      const page = await jobs.claim('poll', { atMs: DUE_MS, limit: 9 }, UNTIL_MS)

      expect(page).toEqual({ jobs: [{ ...before!, nextPollAtMs: UNTIL_MS }] })
      expect(await jobs.find(ids[0]!)).toEqual(page.jobs[0])
    })

    test('a claim that no one ends is over at its end, as after a crash, on both nodes', async () => {
      const { jobs, other, ids } = await openWith(['processing'])
      await claimed(jobs)

      expect(await claimed(jobs, { atMs: UNTIL_MS - 1, untilMs: UNTIL_MS + 1 })).toEqual([])
      expect(await claimed(other, { atMs: UNTIL_MS, untilMs: UNTIL_MS + 1 })).toEqual(ids)
    })

    test('a claim outlives the process that made it, and no longer than to its end', async () => {
      const { jobs, ids, reopen } = await openWith(['processing'])
      await claimed(jobs)

      const reopened = (await reopen()).jobs

      expect(await claimed(reopened, { atMs: UNTIL_MS - 1 })).toEqual([])
      expect(await claimed(reopened, { atMs: UNTIL_MS })).toEqual(ids)
    })

    test('a claim is of jobs that are due, and of no others', async () => {
      const { jobs, ids } = await openWith(['queued', 'processing', 'unknown_submit', 'failed', 'processing'])
      await jobs.notePoll(ids[4]!, { nextPollAtMs: DUE_MS + 1 })

      expect(await claimed(jobs, { atMs: DUE_MS - 1 })).toEqual([])
      expect(await claimed(jobs)).toEqual([ids[1]!])
      expect(await claimed(jobs, { atMs: DUE_MS + 1 })).toEqual([ids[4]!])
    })

    test('a claim of one job gets only that job, and nothing when it is not due or does not exist', async () => {
      const { jobs, ids } = await openWith(['processing', 'processing'])
      const claimOf = async (id: Id) =>
        (await jobs.claim('poll', { atMs: DUE_MS, limit: 1, id }, UNTIL_MS)).jobs.map(job => job.id)

      expect(await claimOf(ids[1]!)).toEqual([ids[1]!])
      expect(await claimOf(ids[1]!)).toEqual([])
      expect(await claimOf(anId())).toEqual([])
      expect(await claimed(jobs)).toEqual([ids[0]!])
    })

    test('a claim comes in pages that start after a place', async () => {
      const { jobs, ids } = await openWith(['processing', 'processing', 'processing'])

      const first = await jobs.claim('poll', { atMs: DUE_MS, limit: 2 }, UNTIL_MS)
      await jobs.endClaim(ids[0]!, { claimedUntilMs: UNTIL_MS, atMs: DUE_MS })
      const second = await jobs.claim('poll', { atMs: DUE_MS, limit: 2, after: first.next! }, UNTIL_MS)

      expect(first.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2))
      expect(second.jobs.map(({ id }) => id)).toEqual(ids.slice(2))
      expect(second.next).toBeUndefined()
    })

    test('a claim ends with the poll that it was made for, without delaying the next one', async () => {
      const { jobs, other, ids } = await openWith(['processing'])
      await claimed(jobs)

      await jobs.notePoll(ids[0]!, { nextPollAtMs: DUE_MS + 5000, claimedUntilMs: UNTIL_MS })

      expect(await claimed(other, { atMs: DUE_MS + 4999 })).toEqual([])
      expect(await claimed(other, { atMs: DUE_MS + 5000, untilMs: UNTIL_MS + 1 })).toEqual(ids)
    })

    test('a claim of another node is not ended by the poll of a claim that is over', async () => {
      const { jobs, other, ids } = await openWith(['processing'])
      await claimed(jobs)
      await claimed(other, { atMs: UNTIL_MS, untilMs: UNTIL_MS + 9000 })

      await jobs.notePoll(ids[0]!, { nextPollAtMs: UNTIL_MS + 10, claimedUntilMs: UNTIL_MS })
      await jobs.endClaim(ids[0]!, { claimedUntilMs: UNTIL_MS, atMs: UNTIL_MS + 10 })

      expect((await jobs.find(ids[0]!))?.nextPollAtMs).toBe(UNTIL_MS + 9000)
    })

    test('a claim of another node is not lost to a poll that is noted at the same time', async () => {
      const { jobs, other, ids } = await openWith(Array.from({ length: 8 }, () => 'processing' as const))

      for (const [index, id] of ids.entries()) {
        const note = () => jobs.notePoll(id, { nextPollAtMs: DUE_MS + 5 })
        const claim = () => other.claim('poll', { atMs: DUE_MS, limit: 1, id }, UNTIL_MS)
        const [page] =
          index % 2 === 0
            ? await Promise.all([claim(), note()])
            : ((await Promise.all([note(), claim()])).toReversed() as [Awaited<ReturnType<typeof claim>>])

        const nextPollAtMs = page.jobs.length === 1 ? UNTIL_MS : DUE_MS + 5
        expect(await jobs.find(id)).toMatchObject({ nextPollAtMs })
      }
    })

    test('a claim that is given back makes the job due again at once', async () => {
      const { jobs, other, ids } = await openWith(['processing'])
      await claimed(jobs)

      await jobs.endClaim(ids[0]!, { claimedUntilMs: UNTIL_MS, atMs: DUE_MS + 7 })

      expect(await claimed(other, { atMs: DUE_MS + 6 })).toEqual([])
      expect(await claimed(other, { atMs: DUE_MS + 7 })).toEqual(ids)
    })

    test('a claim leaves no event and no trace in the books', async () => {
      const { store, jobs, payer, ids } = await openWith(['processing'])
      const history = await jobs.history(ids[0]!)

      await claimed(jobs)

      expect(await jobs.history(ids[0]!)).toEqual(history)
      expect(await soundBalance(store, payer.accountId)).toMatchObject({ available: usd('9.9') })
    })

    test('a claim of an unknown submission is over when the job is found', async () => {
      const { jobs, other, ids } = await openWith(['unknown_submit'])

      expect(await claimed(jobs, { work: 'recover' })).toEqual(ids)
      expect(await claimed(other, { work: 'recover' })).toEqual([])
      await moveTo.processing(jobs, ids[0]!)

      expect(await claimed(other)).toEqual(ids)
    })

    test('a claim of a released job that is watched does not wait for the poll that was due before', async () => {
      const { jobs, other, ids } = await openWith(['processing', 'processing'])
      const [id = anId()] = ids
      await jobs.notePoll(id, { nextPollAtMs: NOW + 300_000 })
      await jobs.fail(id, { reason: 'overdue', message: 'Late.', atMs: DUE_MS })

      expect(await claimed(jobs, { work: 'watch' })).toEqual([id])
      expect(await claimed(other, { work: 'watch' })).toEqual([])
      expect(await claimed(other, { work: 'watch', atMs: UNTIL_MS })).toEqual([id])
      expect(await claimed(other, { work: 'watch', atMs: DUE_MS + DAY_MS })).toEqual([])
    })
  })
}

function byTail(left: Id, right: Id): number {
  return Number(left.tail > right.tail) - Number(left.tail < right.tail)
}

type Claim = {
  readonly work: ProviderWork
  readonly atMs: number
  readonly limit: number
  readonly untilMs: number
}
