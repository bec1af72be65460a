import { describe, expect, test } from 'bun:test'
import { idNumber } from '../../src/domain/ids.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aCharge, aHold, NOW, openWithFunds } from '../support/ledger-builders.ts'
import { usd } from '../../src/domain/money.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the ids that the nodes of any store make must be. */
export function idsConform(kind: StoreKind): void {
  describe('ids', () => {
    test('ids of two nodes are never equal, also when they are made in the same millisecond', async () => {
      const { store, other } = await kind.open({ clock: fakeClock() })

      const ids = Array.from({ length: 10_000 }, () => [store.newId(), other.newId()]).flat()

      expect(new Set(ids.map(idNumber)).size).toBe(20_000)
    })

    test('ids grow over a restart, although the clock was set back', async () => {
      const clock = fakeClock(NOW)
      const { store, reopen, accountId, apiKeyId } = await openWithFunds(kind, usd('1'), { clock })
      const request = { ...aHold({ accountId, kind: 'text', amount: usd('1') }), id: store.newId() }
      await store.ledger.placeHold(request)
      await store.ledger.captureHold(request, aCharge(apiKeyId))

      clock.setWallClock(NOW - 3_600_000)
      const { newId } = await reopen()

      expect(newId().key).toBeGreaterThan(request.id.key)
    })
  })
}
