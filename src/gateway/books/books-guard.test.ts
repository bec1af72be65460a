import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aJob } from '../../../test/support/job-builders.ts'
import { aCharge, aCredit, anAccount, anAudit, aTextHold } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { GatewayError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import { HoldQueue } from '../admission/hold-queue.ts'
import { createJob } from '../media/create/create-job.ts'
import type { Affected, Hold, HoldOutcome } from '../ports/ledger/ledger.ts'
import { BooksGuard, type GuardPorts } from './books-guard.ts'

const ADA = 1
const BEN = 2

function aGuard() {
  const anchor: { problem: string | undefined } = { problem: undefined }
  const guard = new BooksGuard({ anchor, isWritable: () => true, buildRefusal: () => undefined })
  const refused = () => [ADA, BEN].filter(account => guard.refusalOf(account) !== undefined)
  const note = (affected: Affected) => guard.noteCheck({ affected, problems: [] }, 0)
  return { guard, anchor, refused, note }
}

describe('paid work', () => {
  test('paid work starts while no problem is known', () => {
    const { guard, refused } = aGuard()

    expect([refused(), guard.stop, guard.stoppedAccounts]).toEqual([[], undefined, 0])
  })

  test('paid work of an account whose books are wrong is refused, and that of others is not', () => {
    const { guard, refused, note } = aGuard()

    note([ADA])

    expect(refused()).toEqual([ADA])
    expect(guard.refusalOf(ADA)).toMatchObject({ code: 'books_inconsistent', extras: { shouldRetry: false } })
    expect([guard.stop, guard.stoppedAccounts]).toEqual([undefined, 1])
  })

  test('paid work of all accounts is refused if the commits are wrong', () => {
    const { guard, refused, note } = aGuard()

    note('everything')

    expect(refused()).toEqual([ADA, BEN])
    expect(guard.stop).toContain('commits')
  })

  test('paid work of all accounts is refused while the books do not match their anchor', () => {
    const { anchor, refused, note } = aGuard()
    anchor.problem = 'It names commits that are missing.'
    note([])

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
    const { guard, refused, note } = aGuard()

    for (const result of ['failed', 'failed', 'sound', 'failed', 'failed'])
      if (result === 'failed') guard.noteFailedCheck()
      else note([])

    expect(refused()).toEqual([])
  })

  test('paid work resumes with a check that finds nothing', () => {
    const { guard, refused, note } = aGuard()
    note('everything')
    note([ADA])
    for (let failed = 0; failed < 3; failed += 1) guard.noteFailedCheck()

    note([])

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
  const { place, accountId } = await holdsOf(store, { isWritable: store.isWritable })
  const outcome = () =>
    place().then(
      ({ outcome: word }) => word,
      (error: { code: string }) => error.code,
    )

  const before = await outcome()
  disk.isFull = true
  await store.ledger
    .credit({ ...aCredit(accountId), amount: usd('1'), audit: anAudit() })
    .catch(() => undefined)
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
  const refusal = new GatewayError('unavailable', 'This gateway is too old.')
  const too = { isOld: false }
  const { place, guard, payer } = await holdsOf(store, {
    buildRefusal: () => (too.isOld ? refusal : undefined),
  })
  const held = heldBy(await place())

  too.isOld = true

  expect(await rejection(place())).toBe(refusal)
  const ports = { jobs: store.jobs, guard, runner: { start: () => {} } }
  expect(await rejection(createJob(aJob(payer), { record: {} }, ports))).toMatchObject({
    code: 'unavailable',
    cause: refusal,
  })
  const charge = aCharge(payer.apiKeyId, { tokens: 1 })
  expect((await store.ledger.captureHold(held, charge)).cost).toBe(charge.cost)
})

/** The text holds of a new account with one dollar, behind a guard. */
async function holdsOf(store: ReturnType<typeof aSqliteStore>, change: Partial<GuardPorts>) {
  const payer = await anAccount(store, { funds: usd('1') })
  const { accountId } = payer
  const sound = { anchor: { problem: undefined }, isWritable: () => true, buildRefusal: () => undefined }
  const guard = new BooksGuard({ ...sound, ...change })
  const settings = { waitMs: 0, mode: 'hold' } as const
  const queue = new HoldQueue({ ledger: store.ledger, guard, clock: fakeClock() }, settings)
  const client = { signal: new AbortController().signal }
  const place = () => queue.place(aTextHold({ accountId, amount: usd('0.1') }), client)
  return { place, guard, payer, accountId }
}

function heldBy(outcome: HoldOutcome): Hold {
  if (outcome.outcome !== 'held') throw new Error(`The hold is ${outcome.outcome}.`)
  return outcome.hold
}
