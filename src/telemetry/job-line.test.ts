import { expect, test } from 'bun:test'
import { aJob, openJobs } from '../../test/support/job-builders.ts'
import { sqlite } from '../../test/support/test-store.ts'
import { jobLine } from './job-line.ts'

test.each([
  ["the operator's text of a failure", 'the environment variable PICS_KEY is not set', 'PICS_KEY'],
  ["the customer's text if there is no other", undefined, 'is not available'],
])('the line of a failed job has %s', async (_, problem, text) => {
  const { jobs, payer } = await openJobs(sqlite)
  const job = aJob(payer)
  await jobs.create(job)
  const failure = { reason: 'not_configured', message: 'The model is not available.' } as const
  const noted = problem === undefined ? {} : { problem }
  const { job: failed } = await jobs.fail(job.id, { ...failure, ...noted, atMs: job.createdAtMs })

  expect(jobLine(failed)['problem']).toContain(text)
})
