import { expect, test } from 'bun:test'
import { jobsConform } from '../../../../test/conformance/jobs.ts'
import { aJob, DAY_MS, record } from '../../../../test/support/job-builders.ts'
import { anAccount, NOW } from '../../../../test/support/ledger-builders.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'
import { usd } from '../../../domain/money.ts'
import type { SqlValue } from '../rows/canonical.ts'
import { dueJobs } from './job-lists.ts'

jobsConform(sqlite)
conformsOnPostgres(jobsConform)

test.each([
  ['poll', 'jobs_by_state (state=? AND row_id>?)'],
  ['recover', 'jobs_by_state (state=? AND row_id>?)'],
  ['overdue', 'jobs_by_state (state=?)'],
  ['watch', 'jobs_watched (watch_until_ms>?)'],
  ['archive', 'jobs_to_archive (kind=? AND changed_at_ms<?)'],
] as const)('the work "%s" reads none of the other jobs, by the index %s', (work, index) => {
  const { database } = aSqliteStore()
  const ask = dueJobs(work, { atMs: NOW, limit: 9 }, { left: () => ({ sql: '', values: [] }) }).next()
  if (ask.done === true || ask.value.kind !== 'query') throw new Error('The list asks for no rows.')

  const plan = database
    .query<{ detail: string }, SqlValue[]>(`EXPLAIN QUERY PLAN ${ask.value.sql}`)
    .all(...ask.value.values)

  expect(plan[0]?.detail).toBe(`SEARCH jobs USING INDEX ${index}`)
})

test('keys that no request can use any more are removed, and the others are kept', async () => {
  const { database, jobs, ...store } = aSqliteStore()
  const payer = await anAccount({ jobs, ...store }, { funds: usd('10') })
  const make = (key: string, createdAtMs: number) =>
    record(jobs, aJob(payer, { held: usd('0.1'), createdAtMs, idempotency: { key, fingerprint: key } }))
  await make('old', NOW)
  await make('younger', NOW + 1)

  await make('new', NOW + DAY_MS)
  // The keys are removed behind the step that made the job, and before this one.
  await make('newer', NOW + DAY_MS)

  const keys = database.query<{ key: string }, []>('SELECT key FROM job_keys ORDER BY created_at_ms').all()
  expect(keys.map(({ key }) => key)).toEqual(['younger', 'new', 'newer'])
})

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
