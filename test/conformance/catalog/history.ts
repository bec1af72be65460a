import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Catalog } from '../../../src/domain/catalog/catalog.ts'
import { anyCatalog } from '../../support/any-catalog.ts'
import { aDraft, aModel, aProvider, at, openCatalog, rowsOf, viewOf } from '../../support/catalog-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What the history of any catalog must do. */
export function catalogHistoryConforms(kind: StoreKind): void {
  const open = () => openCatalog(kind)

  describe('a catalog store', () => {
    test('a catalog store keeps the history of its revisions, newest first, in pages', async () => {
      const { store, reopen } = await open()
      await store.putProvider(aProvider('main'), at(1, 'provider.put', 'main'))
      await store.putProvider(aProvider('main'), at(2, 'provider.put', 'main'))
      await store.putModel(aModel('x'), at(3, 'model.put', 'x'))
      await store.deleteModel('x', at(4, 'model.delete', 'x'))
      const again = await reopen()

      const first = await again.history({ limit: 2 })
      const second = await again.history({ limit: 2, before: first[1]?.cursor ?? '' })

      const shown = [...first, ...second].map(({ revision, action, subject, atMs }) => [
        revision,
        action,
        subject,
        atMs,
      ])
      expect(shown).toEqual([
        [3, 'model.delete', 'x', 4],
        [2, 'model.put', 'x', 3],
        [1, 'provider.put', 'main', 1],
      ])
    })

    test('a catalog store has the catalog of each revision, with the keys of that time, and none of an unknown one', async () => {
      const { store, reopen } = await open()
      const withKey = (value: string) => aProvider('main', { secret: { from: 'literal', value } })
      await store.replace({ providers: [withKey('sk-1')], models: [aModel('x'), aDraft('y')] }, at(1))
      await store.replace({ providers: [aProvider('other'), withKey('sk-2')], models: [aModel('z')] }, at(2))
      await store.putProvider(aProvider('main'), at(3))

      const again = await reopen()

      const revisions = await Promise.all([1, 2, 3].map(revision => again.at(revision)))
      const views = revisions.map(catalog => ({
        keys: catalog?.providers.map(({ id, secret }) => [id, 'value' in secret ? secret.value : null]),
        models: catalog?.models.map(({ id }) => id),
      }))
      expect(views).toEqual([
        { keys: [['main', 'sk-1']], models: ['x', 'y'] },
        {
          keys: [
            ['other', null],
            ['main', 'sk-2'],
          ],
          models: ['z'],
        },
        {
          keys: [
            ['other', null],
            ['main', null],
          ],
          models: ['z'],
        },
      ])
      expect(await again.at(0)).toBeUndefined()
      expect(await again.at(4)).toBeUndefined()
    })

    test('a catalog store has any catalog at its revision after it was replaced', async () => {
      const { store } = await open()
      await store.putProvider(aProvider('main'), at(1))
      await fc.assert(
        fc.asyncProperty(anyCatalog, anyCatalog, async (one, two) => {
          const settingsOf = (catalog: Catalog) => ({
            providers: [...catalog.providers.values()],
            models: rowsOf(catalog),
          })
          const first = await store.replace(settingsOf(one), at(1))
          await store.replace(settingsOf(two), at(1))

          const earlier = await store.at(first.revision)
          await store.replace(earlier!, at(1))

          expect(viewOf(store.current())).toEqual(viewOf(first))
        }),
        { numRuns: 25 },
      )
    })

    test('a catalog store has the versions of one row, newest first, each with the row before it', async () => {
      const { store, reopen } = await open()
      const withKey = (value: string) => aProvider('main', { secret: { from: 'literal', value } })
      await store.putProvider(withKey('sk-1'), at(1, 'provider.put', 'main'))
      await store.putModel(aModel('a/x'), at(2, 'model.put', 'a/x'))
      await store.putModel({ ...aModel('a/x'), description: 'New.' }, at(3, 'model.put', 'a/x'))
      await store.putProvider(withKey('sk-2'), at(4, 'provider.put', 'main'))
      await store.deleteModel('a/x', at(5, 'model.delete', 'a/x'))
      const again = await reopen()

      const row = { kind: 'model', id: 'a/x' } as const
      const first = await again.versions(row, { limit: 2 })
      const second = await again.versions(row, { limit: 2, before: first[1]?.cursor ?? '' })
      const providers = await again.versions({ kind: 'provider', id: 'main' }, { limit: 9 })

      const described = [...first, ...second].map(({ revision, action, atMs, row: now, before }) => [
        [revision, action, atMs],
        now?.description ?? (now === undefined ? 'none' : ''),
        before?.description ?? (before === undefined ? 'none' : ''),
      ])
      expect(described).toEqual([
        [[5, 'model.delete', 5], 'none', 'New.'],
        [[3, 'model.put', 3], 'New.', ''],
        [[2, 'model.put', 2], '', 'none'],
      ])
      expect(providers.map(({ row: now }) => now?.secret)).toEqual([
        { from: 'literal', value: 'sk-2' },
        { from: 'literal', value: 'sk-1' },
      ])
      expect(await again.versions({ kind: 'price_list', id: 'main' }, { limit: 9 })).toEqual([])
    })
  })
}
