import { describe, expect, test } from 'bun:test'
import { until } from '../../../src/http1/testing/until.ts'
import { aModel, aProvider, at, openCatalog, viewOf } from '../../support/catalog-builders.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What the catalog of any store must do with edits at the same time, and on several nodes. */
export function catalogNodesConform(kind: StoreKind): void {
  const open = () => openCatalog(kind)

  describe('a catalog store', () => {
    test('a catalog store takes edits at the same time, each whole and each with its own revision', async () => {
      const { store, audited, reopen } = await open()
      const ids = Array.from({ length: 20 }, (_, index) => `m${index}`)

      const edits = await Promise.allSettled([
        store.putProvider(aProvider('main'), at(1, 'provider.put', 'main')),
        ...ids.map(id => store.putModel(aModel(id), at(2, 'model.put', id))),
        store.putModel(aModel('lost', {}, 'nowhere'), at(3, 'model.put', 'lost')),
        store.deleteModel('m0', at(4, 'model.delete', 'm0')),
      ])

      expect(edits.map(({ status }) => status).filter(status => status === 'rejected')).toHaveLength(1)
      expect([...store.current().models.keys()]).toEqual(ids.slice(1))
      expect(store.current().revision).toBe(22)
      expect(await audited()).toHaveLength(22)
      expect((await reopen()).current()).toEqual(store.current())
    })

    test('a catalog store shows an edit on another node within 1 s', async () => {
      const clock = fakeClock()
      const { store, other } = await kind.open({ clock })

      const edited = await store.catalog.putProvider(aProvider('main'), at(1))
      clock.advance(1_000)
      await until('the other node has read the edit', () => other.catalog.current().revision > 0)

      expect(viewOf(other.catalog.current())).toEqual(viewOf(edited))
      expect(other.catalog.current().revision).toBe(edited.revision)
    })

    test('a catalog store shows an edit on another node after a refresh, which changes nothing without one', async () => {
      const { store, other } = await open()

      const edited = await store.putProvider(aProvider('main'), at(1))
      const refreshed = await other.refresh()
      const again = await other.refresh()

      expect(viewOf(refreshed)).toEqual(viewOf(edited))
      expect([other.current(), again]).toEqual([refreshed, refreshed])
    })

    test('a catalog store keeps the edit of one node when the other one edits next, without a refresh', async () => {
      const { store, other } = await open()
      await store.putProvider(aProvider('main'), at(1))

      const edited = await other.putProvider(aProvider('spare'), at(2))

      expect([...edited.providers.keys()]).toEqual(['main', 'spare'])
      expect(viewOf(await store.refresh())).toEqual(viewOf(edited))
    })

    test('a catalog store keeps the edits of two nodes at the same time, each with a revision of its own', async () => {
      const { store, other } = await open()

      const edited = await Promise.all([
        store.putProvider(aProvider('main'), at(1)),
        other.putProvider(aProvider('spare'), at(1)),
      ])

      expect(new Set(edited.map(({ revision }) => revision))).toEqual(new Set([1, 2]))
      const refreshed = [await store.refresh(), await other.refresh()]
      for (const { providers } of refreshed) expect([...providers.keys()].sort()).toEqual(['main', 'spare'])
    })
  })
}
