import { expect, test } from 'bun:test'
import { idsConform } from '../../../test/conformance/ids.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCharge, aHold, NOW, openWithFunds } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore, nodeSettings, sqlite } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'

idsConform(sqlite)

test('ids grow over a restart, although the clock was set back', async () => {
  const clock = fakeClock(NOW)
  const { store, reopen, accountId, apiKeyId } = await openWithFunds(sqlite, usd('1'), { clock })
  const request = { ...aHold({ accountId, kind: 'text', amount: usd('1') }), id: store.newId() }
  await store.ledger.placeHold(request)
  await store.ledger.captureHold(request, aCharge(apiKeyId))

  clock.setWallClock(NOW - 3_600_000)
  const { newId } = await reopen()

  expect(newId().key).toBeGreaterThan(request.id.key)
})

test('a name belongs to one open node at a time', () => {
  const store = aSqliteStore()
  const node = store.openNode(nodeSettings('other', fakeClock()))

  expect(() => store.openNode(nodeSettings('other', fakeClock()))).toThrow(
    'There is already an open node "other".',
  )
  node.close()
  expect(store.openNode(nodeSettings('other', fakeClock())).name).toBe('other')
})
