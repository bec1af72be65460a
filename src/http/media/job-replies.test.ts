import { expect, test } from 'bun:test'
import { aJob, jobIn, openJobs } from '../../../test/support/job-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { sqlite } from '../../../test/support/test-store.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { createdImageReply } from './job-replies.ts'

test('images that are paid but cannot be opened are a 503 that no client sends again, whatever is at fault', async () => {
  const { jobs, payer } = await openJobs(sqlite)
  const job = await jobIn('completed', jobs, aJob(payer))
  const full = new Error('EMFILE: too many open files')
  const ports = {
    blobs: { readIntact: () => Promise.reject(full) },
    damagedResults: { note: () => undefined },
  }

  const error = await rejection(createdImageReply(job, { isRepeatable: false }, ports))

  expect(error).toMatchObject({
    code: 'unavailable',
    cause: full,
    extras: { shouldRetry: false, extensions: { id: publicId(job), cost_usd: '3' } },
  })
})
