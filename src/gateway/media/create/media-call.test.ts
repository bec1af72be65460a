import { expect, test } from 'bun:test'
import { aJob, openJobs } from '../../../../test/support/job-builders.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import type { Failure } from '../../../domain/jobs/job.ts'
import { noteJob, type MediaRecord } from './media-call.ts'

test.each<[string, Failure, object]>([
  [
    'that the provider failed is a fault of the provider',
    { reason: 'generation_failed', code: 'UNSAFE', message: 'No.' },
    { jobFault: 'provider', errorCode: 'UNSAFE' },
  ],
  [
    'that the provider did not accept has the reason as its code',
    { reason: 'no_job_id', message: 'No.' },
    { jobFault: 'provider', errorCode: 'no_job_id' },
  ],
  [
    'that the provider refused is a fault of the client',
    { reason: 'rejected', code: 'EMPTY_PROMPT', message: 'No.' },
    { jobFault: 'client', errorCode: 'EMPTY_PROMPT' },
  ],
])('the record of a request for a job %s', async (_, failure, noted) => {
  const { jobs, payer } = await openJobs(sqlite)
  const job = aJob(payer)
  await jobs.create(job)
  const record: MediaRecord = {}

  noteJob(record, (await jobs.fail(job.id, { ...failure, atMs: job.createdAtMs })).job)

  expect(record).toMatchObject({ jobState: 'failed', ...noted })
})

test('the record of a request whose submission has no answer has a fault of the provider', async () => {
  const { jobs, payer } = await openJobs(sqlite)
  const job = aJob(payer)
  await jobs.create(job)
  const record: MediaRecord = {}
  const lost = { problem: 'status 503', atMs: job.createdAtMs, deadlineAtMs: job.deadlineAtMs }

  noteJob(record, (await jobs.loseSubmit(job.id, lost)).job)

  expect(record).toMatchObject({ jobFault: 'provider', errorCode: 'unknown_submit' })
})

test('the record of a request whose job runs has no error', async () => {
  const { jobs, payer } = await openJobs(sqlite)
  const created = await jobs.create(aJob(payer))
  const record: MediaRecord = {}

  if (created.outcome === 'created') noteJob(record, created.job)

  expect(record.jobState).toBe('queued')
  expect(record).not.toHaveProperty('errorCode')
})
