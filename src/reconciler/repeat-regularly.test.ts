import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { hold, NOW, openWithFunds } from '../../test/support/ledger-builders.ts'
import { sqlite } from '../../test/support/test-store.ts'
import { turn } from '../../test/support/turn.ts'
import { HOLD_RENEW_EVERY_MS, HOLD_TTL_MS } from '../domain/ledger/hold.ts'
import { usd } from '../domain/money.ts'
import { repeatRegularly } from './repeat-regularly.ts'

async function setUp() {
  const clock = fakeClock(NOW)
  const { ledger, accountId } = await openWithFunds(sqlite, usd('5'), { clock })
  const failures: unknown[] = []
  const onFailed = (error: unknown) => void failures.push(error)
  await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
  return { clock, ledger, failures, onFailed }
}

describe('the renewal of holds', () => {
  test('the renewal of holds keeps the holds of the node from expiring, until it is stopped', async () => {
    const { clock, ledger, onFailed } = await setUp()
    const stop = repeatRegularly(() => ledger.renewHolds(), { clock, onFailed }, HOLD_RENEW_EVERY_MS)

    for (let renewals = 0; renewals < 6; renewals += 1) {
      clock.advance(HOLD_RENEW_EVERY_MS)
      await turn()
    }
    const during = await ledger.expiredHolds(5)
    stop()
    clock.advance(HOLD_TTL_MS)

    expect(during).toEqual([])
    expect(await ledger.expiredHolds(5)).toHaveLength(1)
    expect(clock.waiting).toBe(0)
  })

  test('the renewal of holds reports a failure and tries again', async () => {
    const { clock, failures, onFailed } = await setUp()
    let calls = 0
    const failing = () => {
      calls += 1
      return Promise.reject(new Error('disk full'))
    }
    const stop = repeatRegularly(failing, { clock, onFailed }, HOLD_RENEW_EVERY_MS)

    clock.advance(2 * HOLD_RENEW_EVERY_MS)
    await turn()
    stop()

    expect(calls).toBe(2)
    expect(failures).toMatchObject([{ message: 'disk full' }, { message: 'disk full' }])
  })
})
