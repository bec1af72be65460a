import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { aVideoJob, openJobs, record } from '../../test/support/job-builders.ts'
import { NOW } from '../../test/support/ledger-builders.ts'
import { sqlite } from '../../test/support/test-store.ts'
import { SUBMIT_TIMEOUT_MS } from '../gateway/media/work/submit-job.ts'
import { loseStaleSubmissions, STALE_AFTER_MS } from './reconcile-jobs.ts'

const TTL_MS = 900_000

/** A job whose submission began now, and the sweep at an instant. */
async function setUp() {
  const clock = fakeClock(NOW)
  const { jobs, payer } = await openJobs(sqlite, { clock })
  const { id } = await record(jobs, aVideoJob(payer))
  await jobs.beginSubmit(id, NOW)
  const ports = {
    jobs,
    clock,
    places: new Map<string, string>(),
    stopping: new AbortController().signal,
    onFailed: (error: unknown) => {
      throw error
    },
  }
  return {
    lostAt: async (atMs: number) =>
      (await loseStaleSubmissions(ports, { unknownSubmitTtlMs: TTL_MS }, atMs)).lost,
    job: async () => (await jobs.find(id))!,
  }
}

test('a submission that may still be running is not lost, however long it takes', async () => {
  const { lostAt, job } = await setUp()

  // The result of a synchronous provider is stored after the call.
  expect(await lostAt(NOW + SUBMIT_TIMEOUT_MS + 30_000)).toBe(0)

  expect((await job()).state).toBe('queued')
})

test('a submission that is older than any can be is lost, and its money stays held until the deadline', async () => {
  const { lostAt, job } = await setUp()

  expect(await lostAt(NOW + STALE_AFTER_MS)).toBe(1)

  expect(await job()).toMatchObject({
    state: 'unknown_submit',
    deadlineAtMs: NOW + STALE_AFTER_MS + TTL_MS,
  })
  expect(STALE_AFTER_MS).toBeLessThanOrEqual(2 * SUBMIT_TIMEOUT_MS)
})
