import { expect, test } from 'bun:test'
import { formatId } from '../../../domain/ids.ts'
import { usd } from '../../../domain/money.ts'
import { aJob, jobIn } from '../../../../test/support/job-builders.ts'
import { anAccount, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'

/** Row 1 is running, row 2 completed, row 3 failed, and row 4 was finished late by operation 9. */
async function usedBooks() {
  const store = aSqliteStore()
  const payer = await anAccount(store, { funds: usd('20') })
  const ids = []
  for (const state of ['processing', 'completed', 'failed', 'unknown_submit'] as const)
    ids.push((await jobIn(state, store.jobs, aJob(payer))).id)
  const late = ids[3]!
  await store.jobs.fail(late, { reason: 'submit_unconfirmed', message: 'Gone.', atMs: NOW + 1 })
  await store.jobs.bookLateCompletion(late, { cost: usd('2'), atMs: NOW + 2 })
  return { store, ids }
}

test('verify finds no problem in jobs that ended in every way', async () => {
  const { store } = await usedBooks()

  expect(await store.ledger.verify()).toMatchObject({ problems: [] })
})

test.each([
  [
    "UPDATE jobs SET state = 'failed', failure_reason = 'overdue' WHERE row_id = 1",
    'is failed, but its hold is open',
  ],
  ["UPDATE jobs SET state = 'queued' WHERE row_id = 3", 'is queued, but its hold is released'],
  ["UPDATE jobs SET state = 'failed' WHERE row_id = 2", 'is failed, but its hold is captured'],
  ['UPDATE jobs SET id_tail = id_tail + 1 WHERE row_id = 1', 'is processing, but its hold is missing'],
  ['UPDATE jobs SET held = 5 WHERE row_id = 1', 'holds 0.000000005 USD, but its hold is of 4.00 USD'],
  ['UPDATE jobs SET cost = 1 WHERE row_id = 2', 'costs 0.000000001 USD, but was charged 3.00 USD'],
  ['UPDATE jobs SET cost = NULL WHERE row_id = 2', 'costs nothing, but was charged 3.00 USD'],
  ['UPDATE jobs SET loss = 1 WHERE row_id = 3', 'has a loss of 0.000000001 USD, but no operation booked it'],
])('verify reports %s', async (tampering, message) => {
  const { store } = await usedBooks()
  tamper(store, tampering)

  const { problems } = await store.ledger.verify()

  expect(problems.map(problem => problem.message)).toContainEqual(expect.stringContaining(`${message}.`))
})

test.each([
  ['UPDATE jobs SET loss = 7 WHERE row_id = 4', 'earns 2.00 USD, but its charge is 0.000000007 USD'],
  ['UPDATE jobs SET loss_at_ms = 7 WHERE row_id = 4', 'a loss operation at another time than its job'],
  ['UPDATE jobs SET loss_by = NULL WHERE row_id = 4', 'earns 2.00 USD, but its charge is 0.00 USD'],
])(
  'verify reports an entry of a late completion that does not fit its job: %s',
  async (tampering, message) => {
    const { store } = await usedBooks()
    tamper(store, tampering)

    const { problems } = await store.ledger.verify()

    expect(problems[0]).toMatchObject({ entryId: '9.1', message: expect.stringContaining(message) })
  },
)

test('verify names the job by the id that its customer knows', async () => {
  const { store, ids } = await usedBooks()
  tamper(store, 'UPDATE jobs SET held = 5 WHERE row_id = 1')

  const { problems } = await store.ledger.verify()

  expect(problems[0]!.message).toContain(`: job ${formatId('img', ids[0]!)} holds 0.000000005 USD`)
})
