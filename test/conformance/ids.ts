import { describe, expect, test } from 'bun:test'
import { idNumber } from '../../src/domain/ids.ts'
import { fakeClock } from '../support/fake-clock.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the ids that the nodes of any store make must be. */
export function idsConform(kind: StoreKind): void {
  describe('ids', () => {
    test('ids of two nodes are never equal, also when they are made in the same millisecond', async () => {
      const { store, other } = await kind.open({ clock: fakeClock() })

      const ids = Array.from({ length: 10_000 }, () => [store.newId(), other.newId()]).flat()

      expect(new Set(ids.map(idNumber)).size).toBe(20_000)
    })
  })
}
