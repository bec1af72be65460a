import { expect, test } from 'bun:test'
import { jobsConform } from '../../../../test/conformance/jobs.ts'
import { aJob, record } from '../../../../test/support/job-builders.ts'
import { anAccount, NOW } from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'

jobsConform(sqlite)

test('an idempotency key that was edited to name the job of another account does not serve that job', async () => {
  const store = aSqliteStore()
  const ada = await anAccount(store, { funds: usd('10') })
  const ben = await anAccount(store, { funds: usd('10') })
  const idempotency = { key: 'order-7', fingerprint: 'images abc' }
  await record(store.jobs, aJob(ada))
  await record(store.jobs, aJob(ben, { idempotency }))
  tamper(store, 'UPDATE job_keys SET job = 1')

  const found = await rejection(store.jobs.findByKey(ben.accountId, 'order-7', NOW))
  const created = await rejection(store.jobs.create(aJob(ben, { idempotency })))

  const message = 'The idempotency key "order-7" names the job in row 1, which belongs to another account.'
  expect([String(found), String(created)]).toEqual([`Error: ${message}`, `Error: ${message}`])
  expect((await store.jobs.list({ limit: 10 })).jobs).toHaveLength(2)
})
