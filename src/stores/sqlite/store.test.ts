import { expect, test } from 'bun:test'
import { idsConform } from '../../../test/conformance/ids.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aSqliteStore, nodeSettings, sqlite } from '../../../test/support/test-store.ts'

idsConform(sqlite)

test('a name belongs to one open node at a time', () => {
  const store = aSqliteStore()
  const node = store.openNode(nodeSettings('other', fakeClock()))

  expect(() => store.openNode(nodeSettings('other', fakeClock()))).toThrow(
    'There is already an open node "other".',
  )
  node.close()
  expect(store.openNode(nodeSettings('other', fakeClock())).name).toBe('other')
})
