import { expect, test } from 'bun:test'
import { aBill, anAccount, anAttempt, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper } from '../../../../test/support/tamper.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { formatId } from '../../../domain/ids.ts'
import { usd } from '../../../domain/money.ts'

/** Operation 1 is a credit, 2 the charge of an attempt, 3 its compensation. Others are in every other state. */
async function compensatedBooks() {
  const store = aSqliteStore()
  const payer = await anAccount(store, { funds: usd('9') })
  const { attempts, ledger } = store
  const [compensated, billed, closed, timedOut] = [1, 2, 3, 4].map(() => anAttempt(payer))
  for (const attempt of [compensated!, billed!, closed!, timedOut!]) await attempts.record(attempt)
  await attempts.record({ ...anAttempt(payer), state: 'abandoned', usage: aBill().usage, providerCost: null })
  await attempts.bill(compensated!, aBill())
  await attempts.bill(billed!, aBill())
  await attempts.close(closed!)
  await ledger.compensate(compensated!, NOW)
  return { store, compensated: compensated! }
}

test('verify finds no problem in attempts of every state', async () => {
  const { store } = await compensatedBooks()

  expect(await store.ledger.verify()).toEqual({ problems: [], entries: 6, affected: [] })
})

const COMPENSATED = "state = 'compensated'"

test.each([
  [
    `DELETE FROM attempts WHERE ${COMPENSATED}`,
    '3.1',
    'a compensation operation, but its attempt is missing',
  ],
  [
    `UPDATE attempts SET state = 'billed', compensated_by = NULL WHERE ${COMPENSATED}`,
    '3.1',
    'a compensation operation, but its attempt is missing',
  ],
  [
    `UPDATE attempts SET compensated_by = 2 WHERE ${COMPENSATED}`,
    '3.1',
    'a compensation operation, but its attempt is missing',
  ],
  ["UPDATE attempts SET state = 'billed' WHERE compensated_by = 3", null, 'is billed, but has operation 3'],
  ["UPDATE attempts SET state = 'compensated' WHERE state = 'billed'", null, 'but was charged nothing'],
  [
    `UPDATE attempts SET cost = 7, input = 7 WHERE ${COMPENSATED}`,
    null,
    'costs 0.000000007 USD, but its usage costs 7.00 USD',
  ],
  [
    "UPDATE attempts SET cost = 2 * cost, input = 2 * input WHERE state = 'compensated'",
    null,
    'costs 2.00 USD, but was charged 1.00 USD',
  ],
  [
    "UPDATE attempts SET tariff_id = 9; INSERT INTO tariffs VALUES (9, '{', 0)",
    null,
    'has a tariff whose prices cannot be read',
  ],
  [
    'UPDATE operations SET subject_key = 1 WHERE id = 3',
    '3.1',
    'a compensation operation, but its attempt is missing',
  ],
])('verify reports %s', async (tampering, entryId, message) => {
  const { store } = await compensatedBooks()
  tamper(store, tampering)

  const { problems } = await store.ledger.verify()

  expect(problems[0]).toMatchObject({ entryId, message: expect.stringContaining(message) })
})

test('verify names the attempt by the id that its customer knows', async () => {
  const { store, compensated } = await compensatedBooks()
  tamper(store, `UPDATE attempts SET cost = 7 WHERE ${COMPENSATED}`)

  const { problems } = await store.ledger.verify()

  expect(problems[0]!.message).toContain(
    `: attempt 1 of ${formatId('req', compensated.requestId)} costs 0.000000007 USD`,
  )
})
