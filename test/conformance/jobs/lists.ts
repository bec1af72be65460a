import { describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/domain/ids.ts'
import type { JobState } from '../../../src/domain/jobs/job.ts'
import { usd } from '../../../src/domain/money.ts'
import type { Jobs, JobWork, NewJob } from '../../../src/gateway/ports/media/jobs.ts'
import {
  aJob,
  aResult,
  aVideoJob,
  DAY_MS,
  DEADLINE_MS,
  jobIn,
  openJobs,
  record,
  UNKNOWN_DEADLINE_MS,
} from '../../support/job-builders.ts'
import { anAccount, anId, NOW } from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

const CHEAP = { held: usd('0.1') }
const CHEAP_RESULT = aResult({ cost: usd('0.1') })

/** The lists of jobs: for operators, and of the work of the reconciler. */
export function jobListsConform(kind: StoreKind): void {
  /** Cheap jobs, one for each state. */
  async function openWithEach(change: Partial<NewJob> = {}) {
    const opened = await openJobs(kind)
    const { jobs, payer } = opened
    const make = async (state: Exclude<JobState, 'completed'>) =>
      (await jobIn(state, jobs, aJob(payer, { ...CHEAP, ...change }))).id
    const ids = {
      queued: await make('queued'),
      processing: await make('processing'),
      unknown_submit: await make('unknown_submit'),
      completed: await make('processing'),
      failed: await make('failed'),
    } satisfies Record<JobState, Id>
    await jobs.complete(ids.completed, CHEAP_RESULT)
    return { ...opened, ids }
  }

  describe('the list of jobs', () => {
    test('the list of jobs has all jobs, newest first, page by page', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const other = await anAccount(store, { funds: usd('10') })
      const { key } = anId()
      // Of ids that share their first half, none may be lost between two pages.
      const ids = [5n, 3n, -4n, 1n, 2n].map(tail => ({ key, tail }))
      for (const [index, id] of ids.entries())
        await record(jobs, aJob(index % 2 === 0 ? payer : other, { id, ...CHEAP }))

      const pages = await pagesOf(cursor => jobs.list({ limit: 2, ...cursor }))

      expect(pages.map(page => page.length)).toEqual([2, 2, 1])
      expect(pages.flat()).toEqual(ids.toReversed())
    })

    test('the list of jobs of a full last page has no next page', async () => {
      const { jobs, payer } = await openJobs(kind)
      await record(jobs, aJob(payer, CHEAP))
      await record(jobs, aJob(payer, CHEAP))

      const page = await jobs.list({ limit: 2 })

      expect(page.jobs).toHaveLength(2)
      expect(page.next).toBeUndefined()
    })

    test('the list of jobs does not move when jobs are added between two pages', async () => {
      const { jobs, payer } = await openJobs(kind)
      const old = await record(jobs, aJob(payer, CHEAP))
      const recent = await record(jobs, aJob(payer, CHEAP))
      const first = await jobs.list({ limit: 1 })
      await record(jobs, aJob(payer, CHEAP))

      const second = await jobs.list({ limit: 1, cursor: first.next! })

      expect([first.jobs[0]!.id, second.jobs[0]!.id]).toEqual([recent.id, old.id])
    })

    test('the list of jobs can begin with the oldest, and behind a job in either order', async () => {
      const { jobs, payer } = await openJobs(kind)
      const ids = []
      for (let index = 0; index < 4; index += 1) ids.push((await record(jobs, aJob(payer, CHEAP))).id)
      const behind = ids[1]!
      const idsOf = async (page: object) => (await jobs.list({ limit: 9, ...page })).jobs.map(({ id }) => id)

      const oldestFirst = await pagesOf(cursor => jobs.list({ limit: 3, isOldestFirst: true, ...cursor }))

      expect(oldestFirst).toEqual([ids.slice(0, 3), ids.slice(3)])
      expect(await idsOf({ behind })).toEqual([ids[0]!])
      expect(await idsOf({ behind, isOldestFirst: true })).toEqual([ids[2]!, ids[3]!])
      expect(await idsOf({ behind: anId() })).toEqual([])
    })

    test('the list of jobs can be of one account, one kind, one state, and of all three', async () => {
      const { store, jobs, payer, ids } = await openWithEach()
      const other = await anAccount(store, { funds: usd('10') })
      const theirs = await record(jobs, aJob(other, CHEAP))
      const video = await record(jobs, aVideoJob(payer, CHEAP))
      const list = async (filter: object) =>
        (await jobs.list({ limit: 20, ...filter })).jobs.map(({ id }) => id)

      expect(await list({ accountId: other.accountId })).toEqual([theirs.id])
      expect(await list({ kind: 'video' })).toEqual([video.id])
      expect(await list({ state: 'failed' })).toEqual([ids.failed])
      expect(await list({ state: 'queued' })).toEqual([video.id, theirs.id, ids.queued])
      const { accountId } = payer
      expect(await list({ accountId, kind: 'image', state: 'queued' })).toEqual([ids.queued])
      expect(await list({ accountId: other.accountId, state: 'failed' })).toEqual([])
    })

    test('the list of jobs refuses a cursor that it did not give', async () => {
      const { jobs } = await openJobs(kind)

      const error = await rejection(jobs.list({ limit: 1, cursor: 'x; DROP TABLE jobs' }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
    })
  })

  test('the open jobs are counted by their state, on every node', async () => {
    const { jobs, payer } = await openJobs(kind)
    const before = await jobs.openCounts()
    await jobIn('completed', jobs, aJob(payer))
    for (const state of ['queued', 'processing', 'processing', 'unknown_submit', 'failed'] as const)
      await jobIn(state, jobs, aJob(payer, CHEAP))

    expect(before).toEqual({ queued: 0, processing: 0, unknown_submit: 0 })
    expect(await jobs.openCounts()).toEqual({ queued: 1, processing: 2, unknown_submit: 1 })
  })

  describe('the work of the reconciler', () => {
    test('the work of the reconciler is to poll a running job when its next poll is due', async () => {
      const { jobs, ids } = await openWithEach()

      expect(await dueAt(jobs, 'poll', NOW + 2999)).toEqual([])
      expect(await dueAt(jobs, 'poll', NOW + 3000)).toEqual([ids.processing])
    })

    test('the work of the reconciler is to look for every unknown submission', async () => {
      const { jobs, ids } = await openWithEach()

      expect(await dueAt(jobs, 'recover', NOW)).toEqual([ids.unknown_submit])
    })

    test('the work of the reconciler is to release each open job at its deadline', async () => {
      const { jobs, ids } = await openWithEach()

      expect(await dueAt(jobs, 'overdue', UNKNOWN_DEADLINE_MS - 1)).toEqual([])
      expect(await dueAt(jobs, 'overdue', UNKNOWN_DEADLINE_MS)).toEqual([ids.unknown_submit])
      expect(await dueAt(jobs, 'overdue', DEADLINE_MS)).toEqual([
        ids.queued,
        ids.processing,
        ids.unknown_submit,
      ])
    })

    test('the work of the reconciler is to archive results of a kind from an age on, once', async () => {
      const { jobs, payer, ids } = await openWithEach()
      const video = await jobIn('processing', jobs, aVideoJob(payer, CHEAP))
      await jobs.complete(video.id, CHEAP_RESULT)
      const due = (atMs: number, kind?: 'image' | 'video') => dueAt(jobs, 'archive', atMs, kind)

      expect(await due(NOW + 4999)).toEqual([])
      expect(await due(NOW + 5000)).toEqual([ids.completed, video.id])
      expect(await due(NOW + 5000, 'image')).toEqual([ids.completed])
      expect(await due(NOW + 5000, 'video')).toEqual([video.id])
      await jobs.archive(ids.completed, NOW + 6000)
      expect(await due(NOW + DAY_MS)).toEqual([video.id])
    })

    test('the work of the reconciler is to lose queued jobs that nothing has happened to since an instant', async () => {
      const { jobs, payer, ids } = await openWithEach()
      const notBegun = await record(jobs, aJob(payer, CHEAP))

      expect(await dueAt(jobs, 'stale_queued', NOW - 1)).toEqual([])
      expect(await dueAt(jobs, 'stale_queued', NOW)).toEqual([notBegun.id])
      expect(await dueAt(jobs, 'stale_queued', NOW + 500)).toEqual([ids.queued, notBegun.id])
    })

    test('the work of the reconciler comes in pages that miss no job while others stop needing it', async () => {
      const { jobs, payer } = await openJobs(kind)
      const made = []
      for (let index = 0; index < 5; index += 1)
        made.push((await jobIn('unknown_submit', jobs, aJob(payer, CHEAP))).id)
      const seen: Id[] = []

      for (let page = await jobs.due('recover', { atMs: NOW, limit: 2 }); ;) {
        seen.push(...page.jobs.map(({ id }) => id))
        for (const { id } of page.jobs)
          await jobs.fail(id, { reason: 'submit_unconfirmed', message: 'Gone.', atMs: NOW })
        if (page.next === undefined) break
        page = await jobs.due('recover', { atMs: NOW, limit: 2, after: page.next })
      }

      expect(seen).toEqual(made)
    })
  })
}

async function dueAt(
  jobs: Jobs,
  work: JobWork,
  atMs: number,
  kind?: 'image' | 'video',
): Promise<readonly Id[]> {
  const page = await jobs.due(work, { atMs, limit: 100, ...(kind === undefined ? {} : { kind }) })
  return page.jobs.map(({ id }) => id)
}

type Cursor = { readonly cursor?: string }

async function pagesOf(read: (cursor: Cursor) => ReturnType<Jobs['list']>): Promise<readonly Id[][]> {
  const pages: Id[][] = []
  for (let cursor: Cursor = {}; ;) {
    const { jobs, next } = await read(cursor)
    pages.push(jobs.map(({ id }) => id))
    if (next === undefined) return pages
    cursor = { cursor: next }
  }
}
