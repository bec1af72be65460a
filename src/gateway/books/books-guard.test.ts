import { describe, expect, test } from 'bun:test'
import { classPort, methodsOf, type Call } from '../../../test/support/class-port.ts'
import { aCredit, aHold, anAccount, anAudit } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { usd } from '../../domain/money.ts'
import { BooksGuard, guardedJobs, guardedLedger } from './books-guard.ts'

const ADA = 1
const BEN = 2

function aGuard() {
  const anchor: { problem: string | undefined } = { problem: undefined }
  const guard = new BooksGuard(anchor)
  const refused = () => [ADA, BEN].filter(account => guard.refusal(account) !== undefined)
  return { guard, anchor, refused }
}

describe('paid work', () => {
  test('paid work starts while no problem is known', () => {
    const { guard, refused } = aGuard()

    expect([refused(), guard.stop, guard.stoppedAccounts]).toEqual([[], undefined, 0])
  })

  test('paid work of an account whose books are wrong is refused, and that of others is not', () => {
    const { guard, refused } = aGuard()

    guard.noteCheck([ADA])

    expect(refused()).toEqual([ADA])
    expect(guard.refusal(ADA)).toMatchObject({ code: 'books_inconsistent', extras: { shouldRetry: false } })
    expect([guard.stop, guard.stoppedAccounts]).toEqual([undefined, 1])
  })

  test('paid work of all accounts is refused if the commits are wrong', () => {
    const { guard, refused } = aGuard()

    guard.noteCheck('everything')

    expect(refused()).toEqual([ADA, BEN])
    expect(guard.stop).toContain('commits')
  })

  test('paid work of all accounts is refused while the books do not match their anchor', () => {
    const { guard, anchor, refused } = aGuard()
    anchor.problem = 'It names commits that are missing.'
    guard.noteCheck([])

    const during = refused()
    anchor.problem = undefined

    expect([during, refused()]).toEqual([[ADA, BEN], []])
  })

  test('paid work of all accounts is refused after three checks in a row that could not run', () => {
    const { guard, refused } = aGuard()
    const seen: number[][] = []

    for (let failed = 0; failed < 3; failed += 1) {
      seen.push(refused())
      guard.noteFailedCheck()
    }

    expect(seen).toEqual([[], [], []])
    expect(refused()).toEqual([ADA, BEN])
  })

  test('paid work is not refused after failed checks that were not in a row', () => {
    const { guard, refused } = aGuard()

    for (const result of ['failed', 'failed', 'sound', 'failed', 'failed'])
      if (result === 'failed') guard.noteFailedCheck()
      else guard.noteCheck([])

    expect(refused()).toEqual([])
  })

  test('paid work resumes with a check that finds nothing', () => {
    const { guard, refused } = aGuard()
    guard.noteCheck('everything')
    guard.noteCheck([ADA])
    for (let failed = 0; failed < 3; failed += 1) guard.noteFailedCheck()

    guard.noteCheck([])

    expect(refused()).toEqual([])
  })
})

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
    guard: new BooksGuard({ problem: undefined }),
    now: () => 0,
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
  const guards = { isWritable: () => true, guard: new BooksGuard({ problem: undefined }), now: () => 0 }
  const { ledger, jobs } = aSqliteStore()

  test.each([
    ['ledger', ledger, (calls: Call[]) => guardedLedger(classPort(ledger, calls), guards)],
    ['jobs', jobs, (calls: Call[]) => guardedJobs(classPort(jobs, calls), guards)],
  ])(
    'a guarded port whose implementation is a class passes on every method of the %s',
    async (_, port, guarded) => {
      const calls: Call[] = []
      const methods = guarded(calls) as unknown as Record<string, (...given: unknown[]) => unknown>

      for (const name of methodsOf(port))
        await Promise.try(() => methods[name]?.({ accountId: 1 }, 2, 3)).catch(() => undefined)

      expect(methodsOf(methods)).toEqual(methodsOf(port))
      expect(calls.map(({ method }) => method).toSorted()).toEqual(methodsOf(port))
    },
  )
})
