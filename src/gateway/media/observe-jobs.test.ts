import { expect, test } from 'bun:test'
import { classPort, methodsOf, type Call } from '../../../test/support/class-port.ts'
import {
  aFailure,
  aJob,
  aResult,
  COST,
  moveTo,
  openJobs,
  record,
  UNKNOWN_DEADLINE_MS,
} from '../../../test/support/job-builders.ts'
import { NOW } from '../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../test/support/test-store.ts'
import type { JobState } from '../../domain/jobs/job.ts'
import { observedJobs } from './observe-jobs.ts'

async function openObserved() {
  const { jobs, payer } = await openJobs(sqlite)
  const seen: (JobState | 'finished late')[] = []
  const observed = observedJobs(jobs, [
    { changed: ({ state }) => seen.push(state), finishedLate: () => seen.push('finished late') },
  ])
  return { jobs: observed, payer, seen }
}

const steps = {
  processing: moveTo.processing,
  unknown_submit: moveTo.unknown_submit,
  completed: moveTo.completed,
  failed: moveTo.failed,
} as const

test.each(Object.entries(steps))(
  'a step to %s is reported once, and a repeat is not',
  async (state, step) => {
    const { jobs, payer, seen } = await openObserved()
    const job = aJob(payer)
    const { id } = await record(jobs, job)

    await jobs.create(job)
    await step(jobs, id)
    await step(jobs, id)

    expect(seen as readonly string[]).toEqual(['queued', state])
  },
)

test('a step that comes too late is not reported', async () => {
  const { jobs, payer, seen } = await openObserved()
  const { id } = await record(jobs, aJob(payer))
  await jobs.complete(id, aResult())

  await jobs.fail(id, aFailure)
  await jobs.loseSubmit(id, { problem: 'Late.', atMs: NOW, deadlineAtMs: UNKNOWN_DEADLINE_MS })
  await moveTo.processing(jobs, id)

  expect(seen).toEqual(['queued', 'completed'])
})

test('a late completion is reported once', async () => {
  const { jobs, payer, seen } = await openObserved()
  const { id } = await record(jobs, aJob(payer))
  await jobs.beginSubmit(id, NOW)
  await jobs.fail(id, { reason: 'overdue', message: 'Late.', atMs: NOW })

  await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 1 })
  await jobs.bookLateCompletion(id, { cost: COST, atMs: NOW + 2 })

  expect(seen).toEqual(['queued', 'failed', 'finished late'])
})

test('every method of jobs whose implementation is a class is passed on', async () => {
  const calls: Call[] = []
  const { jobs } = await openJobs(sqlite)
  const observed = observedJobs(classPort(jobs, calls), [{ changed: () => {}, finishedLate: () => {} }])
  const methods = observed as unknown as Record<string, (...given: unknown[]) => unknown>

  for (const name of methodsOf(jobs)) await Promise.try(() => methods[name]?.()).catch(() => undefined)

  expect(methodsOf(observed)).toEqual(methodsOf(jobs))
  expect(calls.map(({ method }) => method).toSorted()).toEqual(methodsOf(jobs))
})
