import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aJob, openJobs, soundBalance } from '../../../../test/support/job-builders.ts'
import { noGuard } from '../../../../test/support/no-guard.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { createJob, type CreateJobPorts } from './create-job.ts'

test('a reserve that cannot be recorded is 503, takes no money, and nothing is submitted', async () => {
  const { store, jobs, payer } = await openJobs(sqlite)
  const started: Job[] = []
  const ports: Pick<CreateJobPorts, 'jobs' | 'guard' | 'runner' | 'clock'> = {
    jobs: {
      ...jobs,
      create: () => Promise.reject(new Error('database or disk is full')),
    },
    guard: noGuard,
    runner: { start: job => void started.push(job) },
    clock: fakeClock(),
  }

  const error = await rejection(createJob(aJob(payer), { record: {} }, ports))

  expect(error).toBeInstanceOf(GatewayError)
  const { code, extras } = error as GatewayError
  expect([code, extras.extensions, extras.retryAfter]).toEqual(['unavailable', { cost_usd: '0' }, '5'])
  expect(started).toEqual([])
  expect((await jobs.list({ limit: 9 })).jobs).toEqual([])
  expect(await soundBalance(store, payer.accountId)).toMatchObject({ available: usd('10') })
})
