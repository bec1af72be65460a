import { describe, expect, test } from 'bun:test'
import { classPort, methodsOf, type Call } from '../../test/support/class-port.ts'
import { aHold, anAccount, anAudit, aCredit } from '../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../test/support/test-store.ts'
import { turn } from '../../test/support/turn.ts'
import { usd } from '../domain/money.ts'
import { BooksGuard } from '../gateway/books/books-guard.ts'
import { guardedJobs, guardedLedger } from './guarded-books.ts'

test('no hold is placed while the store cannot be written, and holds are placed again afterwards', async () => {
  const store = aSqliteStore()
  const disk = { isFull: false }
  store.transactions.join({
    beforeCommit() {
      if (disk.isFull) throw new Error('database or disk is full')
    },
  })
  const ledger = guardedLedger(store.ledger, {
    isWritable: store.isWritable,
    guard: new BooksGuard({ isAnchored: () => true }),
  })
  const { accountId } = await anAccount(store, { funds: usd('1') })
  const hold = async () => ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0.1') }))
  const outcome = () =>
    hold().then(
      ({ outcome: word }) => word,
      (error: { code: string }) => error.code,
    )

  const before = await outcome()
  disk.isFull = true
  await ledger.credit({ ...aCredit(accountId), amount: usd('1'), audit: anAudit() }).catch(() => undefined)
  await turn()
  const during = await outcome()
  disk.isFull = false
  await turn()
  await outcome()
  await turn()
  const after = await outcome()

  expect([before, during, after]).toEqual(['held', 'unavailable', 'held'])
})

describe('a guarded port whose implementation is a class', () => {
  const guards = { isWritable: () => true, guard: new BooksGuard({ isAnchored: () => true }) }
  const { ledger, jobs } = aSqliteStore()

  test.each([
    ['ledger', ledger, (calls: Call[]) => guardedLedger(classPort(ledger, calls), guards)],
    ['jobs', jobs, (calls: Call[]) => guardedJobs(classPort(jobs, calls), guards)],
  ])('passes on every method of the %s', async (_, port, guarded) => {
    const calls: Call[] = []
    const methods = guarded(calls) as unknown as Record<string, (...given: unknown[]) => unknown>

    for (const name of methodsOf(port))
      await Promise.try(() => methods[name]?.({ accountId: 1 }, 2, 3)).catch(() => undefined)

    expect(methodsOf(methods)).toEqual(methodsOf(port))
    expect(calls.map(({ method }) => method).toSorted()).toEqual(methodsOf(port))
  })
})
