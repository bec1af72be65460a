import { describe, expect, test } from 'bun:test'
import { classPort, methodsOf, type Call } from '../../../test/support/class-port.ts'
import { aJob } from '../../../test/support/job-builders.ts'
import { aCharge, aCredit, aHold, anAccount, anAudit, hold } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { GatewayError } from '../../domain/errors.ts'
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
    refusal: () => undefined,
    guard: new BooksGuard({ problem: undefined }),
    now: () => 0,
  })
  const { accountId } = await anAccount(store, { funds: usd('1') })
  const place = async () => ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0.1') }))
  const outcome = () =>
    place().then(
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

test('a build that is too old for its store begins no paid work, and settles what runs', async () => {
  const store = aSqliteStore()
  const payer = await anAccount(store, { funds: usd('1') })
  const refusal = new GatewayError('unavailable', 'This gateway is too old.')
  const too = { isOld: false }
  const guards = {
    isWritable: () => true,
    refusal: () => (too.isOld ? refusal : undefined),
    guard: new BooksGuard({ problem: undefined }),
    now: () => 0,
  }
  const guarded = guardedLedger(store.ledger, guards)
  const held = await hold(guarded, { accountId: payer.accountId, kind: 'text', amount: usd('0.1') })

  too.isOld = true

  const another = aHold({ accountId: payer.accountId, kind: 'text', amount: usd('0.1') })
  expect(await rejection(guarded.placeHold(another))).toBe(refusal)
  expect(await rejection(guardedJobs(store.jobs, guards).create(aJob(payer)))).toBe(refusal)
  const charge = aCharge(payer.apiKeyId, { tokens: 1 })
  expect((await guarded.captureHold(held, charge)).cost).toBe(charge.cost)
})

describe('a guarded port whose implementation is a class', () => {
  const guards = {
    isWritable: () => true,
    refusal: () => undefined,
    guard: new BooksGuard({ problem: undefined }),
    now: () => 0,
  }
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
