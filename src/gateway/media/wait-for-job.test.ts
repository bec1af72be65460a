import { beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { aJob, jobIn, moveTo, openJobs } from '../../../test/support/job-builders.ts'
import { NOW } from '../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { until } from '../../../test/support/until.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { Jobs } from '../ports/media/jobs.ts'
import { waitForJob, waitForSubmission } from './wait-for-job.ts'

const WAIT_MS = 10_000
/** All steps of these waits end after a multiple of it. */
const STEP_MS = 1000

let clock: FakeClock
let jobs: Jobs
let running: Job
let isReadable: boolean
/** What this node's work makes of the job. */
let after: (job: Job) => Promise<Job>

beforeEach(async () => {
  clock = fakeClock(NOW)
  const opened = await openJobs(sqlite, { clock })
  jobs = opened.jobs
  running = await jobIn('processing', jobs, aJob(opened.payer))
  isReadable = false
  after = async job => job
})

const ports = () => ({
  jobs: {
    find: (id: Job['id']) =>
      isReadable ? jobs.find(id) : Promise.reject(new Error('The store is not there.')),
  },
  runner: { follow: (job: Job) => after(job), poll: async (job: Job) => job },
  clock,
})

/** Work that only a poll before its time does. */
function polling(polled: Job) {
  return { follow: async (job: Job) => job, poll: async () => polled }
}

/** Lets time pass until the wait is over. */
async function timed(wait: Promise<Job>): Promise<{ readonly job: Job; readonly tookMs: number }> {
  const startedAtMs = clock.monotonicMs()
  const ended: Job[] = []
  void wait.then(job => ended.push(job))
  for (;;) {
    // What the runner answers at once comes before the next move of the clock.
    await turn()
    await until('the wait is over or goes on', () => ended.length > 0 || clock.waiting > 0)
    if (ended[0] !== undefined) return { job: ended[0], tookMs: clock.monotonicMs() - startedAtMs }
    clock.advance(STEP_MS)
  }
}

describe('while the store cannot be read', () => {
  const waiting = { waitMs: WAIT_MS, signal: new AbortController().signal }

  test('a wait goes on, and ends with the job that it began with', async () => {
    const { job, tookMs } = await timed(waitForJob(running, waiting, ports()))

    expect([job, tookMs]).toEqual([running, WAIT_MS])
  })

  test('a wait ends with the job that this node has finished', async () => {
    const { job: completed } = await moveTo.completed(jobs, running.id)
    after = async () => completed

    const { job, tookMs } = await timed(waitForJob(running, waiting, ports()))

    expect([job.state, tookMs]).toEqual(['completed', 0])
  })

  test('a short wait ends with the job that its poll has finished', async () => {
    const { job: completed } = await moveTo.completed(jobs, running.id)
    const short = { ...waiting, waitMs: STEP_MS }

    const { job } = await timed(waitForJob(running, short, { ...ports(), runner: polling(completed) }))

    expect(job.state).toBe('completed')
  })

  test('a wait for the submission ends when this node has submitted the job', async () => {
    after = async () => running

    const { job } = await timed(waitForSubmission({ ...running, state: 'queued' }, waiting, ports()))

    expect(job.state).toBe('processing')
  })
})

test('a wait sees what another node did as soon as the store can be read again', async () => {
  const waiting = { waitMs: WAIT_MS, signal: new AbortController().signal }
  await moveTo.completed(jobs, running.id)
  let steps = 0
  after = async job => {
    steps += 1
    isReadable = steps === 3
    return job
  }

  const { job, tookMs } = await timed(waitForJob(running, waiting, ports()))

  expect([job.state, steps]).toEqual(['completed', 3])
  expect(tookMs).toBeLessThan(WAIT_MS)
})
