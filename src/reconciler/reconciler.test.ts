import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { aBill, anAttempt, hold, NOW, openWithFunds } from '../../test/support/ledger-builders.ts'
import { rejection } from '../../test/support/rejection.ts'
import { sqlite } from '../../test/support/test-store.ts'
import { HOLD_TTL_MS } from '../domain/ledger/hold.ts'
import { usd, ZERO } from '../domain/money.ts'
import { LATE_MS } from '../gateway/text/late-answers.ts'
import type { Attempts } from '../gateway/ports/ledger/attempts.ts'
import { LOST_AFTER_MS } from './reconcile-attempts.ts'
import { NO_JOBS } from '../gateway/ports/ledger/reconcile.ts'
import { reconcileOnce, startReconciler } from './reconciler.ts'

async function setUp() {
  const clock = fakeClock(NOW)
  const { store, ledger, accountId, apiKeyId } = await openWithFunds(sqlite, usd('5'), { clock })
  const { leases } = store
  const failures: unknown[] = []
  const { attempts } = store
  const onFailed = (error: unknown) => void failures.push(error)
  const ports = { attempts, ledger, leases, clock, reconcileJobs: async () => NO_JOBS, onFailed }
  const bill = async (tokens: number) => {
    const attempt = anAttempt({ accountId, apiKeyId })
    await attempts.record(attempt)
    await attempts.bill(attempt, aBill({ tokens }))
    return attempt
  }
  return {
    accountId,
    apiKeyId,
    ports,
    clock,
    leases,
    failures,
    attempts,
    ledger,
    bill,
    reconcile: () => reconcileOnce(ports),
  }
}

const NOTHING_DONE = {
  hasRun: true,
  compensated: 0,
  compensatedUsd: ZERO,
  closed: 0,
  expired: 0,
  failed: 0,
  jobs: NO_JOBS,
}

test('an attempt only counts as lost when its call can no longer run', () => {
  expect(LOST_AFTER_MS).toBeGreaterThan(LATE_MS)
})

describe('a pass of the reconciler', () => {
  test('a pass of the reconciler charges and gives back every late answer once', async () => {
    const { reconcile, bill, ledger, accountId } = await setUp()
    for (const tokens of [1, 2, 0]) await bill(tokens)

    const first = await reconcile()
    const second = await reconcile()

    expect(first).toEqual({ ...NOTHING_DONE, compensated: 3, compensatedUsd: usd('3') })
    expect(second).toEqual(NOTHING_DONE)
    expect((await ledger.balance(accountId)).available).toBe(usd('5'))
    expect(await ledger.verify()).toMatchObject({ problems: [] })
  })

  test('a pass of the reconciler closes attempts that are so old that their call or its process has ended', async () => {
    const { reconcile, clock, attempts, accountId, apiKeyId } = await setUp()
    const attempt = anAttempt({ accountId, apiKeyId })
    await attempts.record(attempt)

    clock.advance(LOST_AFTER_MS)
    const early = await reconcile()
    clock.advance(1)
    const late = await reconcile()

    expect([early.closed, late.closed]).toEqual([0, 1])
    expect(await attempts.bill(attempt, aBill())).toBe(false)
  })

  test('a pass of the reconciler frees holds that their owner no longer renews', async () => {
    const { reconcile, clock, ledger, accountId } = await setUp()
    const text = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
    await hold(ledger, { accountId, kind: 'media', amount: usd('2') })

    clock.advance(HOLD_TTL_MS - 1)
    const early = await reconcile()
    clock.advance(1)
    const late = await reconcile()
    await ledger.releaseHold(text, clock.now())

    expect([early.expired, late.expired]).toEqual([0, 2])
    expect((await ledger.balance(accountId)).available).toBe(usd('5'))
    expect(await reconcile()).toEqual(NOTHING_DONE)
  })

  test('a pass of the reconciler does nothing while another pass is running', async () => {
    const { reconcile, bill } = await setUp()
    await bill(1)

    const passes = await Promise.all([reconcile(), reconcile()])

    expect(passes.map(({ hasRun }) => hasRun)).toEqual([true, false])
    expect(passes[1]).toEqual({ ...NOTHING_DONE, hasRun: false })
  })

  test('a pass of the reconciler settles the other attempts when one fails, and reports that one', async () => {
    const { ports, attempts, bill, failures } = await setUp()
    await bill(1)
    const never = { requestId: { key: 7n, tail: 7n }, number: 1 }
    const withStray: Attempts = {
      ...attempts,
      billed: async limit => [never, ...(await attempts.billed(limit))],
    }

    const pass = await reconcileOnce({ ...ports, attempts: withStray })

    expect(pass).toEqual({ ...NOTHING_DONE, compensated: 1, compensatedUsd: usd('1'), failed: 1 })
    expect(failures).toEqual([expect.any(RangeError)])
  })

  test('the other sweeps of a pass run although each sweep before them fails, and all errors are told', async () => {
    const { ports, ledger, attempts, failures } = await setUp()
    let hasSweptJobs = false
    const fail = (message: string) => () => Promise.reject(new Error(message))
    const broken = {
      ...ports,
      attempts: { ...attempts, billed: fail('billed'), closeOlder: fail('closeOlder') },
      ledger: { ...ledger, expiredHolds: fail('expiredHolds') },
      reconcileJobs: async () => {
        hasSweptJobs = true
        return NO_JOBS
      },
    }

    const error = await rejection(reconcileOnce(broken))

    expect(hasSweptJobs).toBe(true)
    expect([error, ...failures]).toMatchObject([
      { message: 'billed' },
      { message: 'closeOlder' },
      { message: 'expiredHolds' },
    ])
  })

  test('a pass of the reconciler that fails does not block the next one', async () => {
    const { ports, attempts, reconcile } = await setUp()
    const broken: Attempts = { ...attempts, billed: () => Promise.reject(new Error('disk full')) }

    const error = await rejection(reconcileOnce({ ...ports, attempts: broken }))
    const next = await reconcile()

    expect(error).toHaveProperty('message', 'disk full')
    expect(next.hasRun).toBe(true)
  })
})

describe('the reconciler', () => {
  test('the reconciler runs at its start and then at each interval, even after a failed pass', async () => {
    const { clock } = await setUp()
    const passes: number[] = []
    const failures: unknown[] = []
    const reconcile = async () => {
      passes.push(clock.now() - NOW)
      if (passes.length === 2) throw new Error('disk full')
      return NOTHING_DONE
    }

    const stop = startReconciler(reconcile, { clock, onFailed: error => failures.push(error) }, 150_000)
    for (let times = 0; times < 3; times += 1) {
      await new Promise(setImmediate)
      clock.advance(150_000)
    }
    await stop()

    expect(passes).toEqual([0, 150_000, 300_000, 450_000])
    expect(failures).toMatchObject([{ message: 'disk full' }])
    expect(clock.waiting).toBe(0)
  })

  test('the reconciler waits for the running pass when it is stopped, and starts no other', async () => {
    const { clock } = await setUp()
    const underWay = Promise.withResolvers<typeof NOTHING_DONE>()
    const stop = startReconciler(() => underWay.promise, { clock, onFailed: () => {} }, 150_000)
    let isStopped = false

    const stopping = stop().then(() => (isStopped = true))
    await new Promise(setImmediate)
    const wasStopped = isStopped
    underWay.resolve(NOTHING_DONE)
    await stopping

    expect([wasStopped, isStopped]).toEqual([false, true])
    expect(clock.waiting).toBe(0)
  })
})
