import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/domain/errors.ts'
import type { CatalogSettings } from '../../src/domain/catalog/catalog.ts'
import { anyCatalog } from '../support/any-catalog.ts'
import {
  aDraft,
  aModel,
  aProvider,
  at,
  openCatalog,
  refusal,
  rowsOf,
  viewOf,
} from '../support/catalog-builders.ts'
import type { StoreKind } from '../support/test-store.ts'
import { catalogHistoryConforms } from './catalog/history.ts'
import { catalogNodesConform } from './catalog/nodes.ts'
import { priceListsConform } from './catalog/price-lists.ts'
import { storedKeysConform } from './catalog/stored-keys.ts'

/** What the catalog of any store must do. */
export function catalogConforms(kind: StoreKind): void {
  const open = () => openCatalog(kind)

  describe('a catalog store', () => {
    test('a catalog store is empty at first', async () => {
      const { store } = await open()

      expect(viewOf(store.current())).toEqual({ providers: [], models: [], drafts: [] })
      expect(store.current().revision).toBe(0)
    })

    test('a catalog store shows an edit as soon as it is answered, with a new revision and the time of the edit', async () => {
      const { store } = await open()

      const edited = await store.putProvider(aProvider('main'), at(1000))

      expect(store.current()).toBe(edited)
      expect(edited.providers.get('main')).toEqual(aProvider('main') as never)
      expect({ revision: edited.revision, updatedAtMs: edited.updatedAtMs }).toEqual({
        revision: 1,
        updatedAtMs: 1000,
      })
    })

    test('a catalog store never changes a catalog that was handed out', async () => {
      const { store } = await open()
      await store.putProvider(aProvider('main'), at(1))
      const before = store.current()

      await store.putModel(aModel('x'), at(2))

      expect(before.models.size).toBe(0)
      expect(before.revision).toBe(1)
    })

    test('a catalog store leaves no trace of an edit that changes nothing', async () => {
      const { store, audited } = await open()
      await store.putProvider(aProvider('main'), at(1, 'provider.put', 'main'))
      await store.putModel(aModel('x'), at(2, 'model.put', 'x'))
      const before = store.current()

      await store.putProvider(aProvider('main'), at(3, 'provider.put', 'main'))
      await store.putModel(aModel('x'), at(4, 'model.put', 'x'))
      await store.deleteModel('nobody', at(5, 'model.delete', 'nobody'))
      await store.replace(
        { providers: [aProvider('main')], models: [aModel('x')] },
        at(6, 'catalog.replace', ''),
      )

      expect(store.current()).toBe(before)
      expect(await audited()).toEqual(['provider.put main', 'model.put x'])
    })

    test('a catalog store keeps what it had over a restart', async () => {
      const { store, reopen } = await open()
      await store.putProvider(aProvider('main', { secret: { from: 'literal', value: 'sk-hunter2' } }), at(1))
      await store.putProvider(aProvider('env', { secret: { from: 'environment', variable: 'KEY' } }), at(2))
      await store.putModel(aModel('x'), at(3))
      await store.putModel(aDraft('y'), at(4))
      const before = store.current()

      const reopened = await reopen()

      expect(viewOf(reopened.current())).toEqual(viewOf(before))
      expect(reopened.current()).toEqual(before)
    })

    test('a catalog store keeps any catalog over a restart, and imports it again without a change', async () => {
      const { store, reopen } = await open()
      let node = store
      await fc.assert(
        fc.asyncProperty(anyCatalog, async catalog => {
          const settings = { providers: [...catalog.providers.values()], models: rowsOf(catalog) }
          const before = await node.replace(settings, at(1))

          node = await reopen()
          await node.replace(settings, at(2))

          expect(viewOf(node.current())).toEqual(viewOf(before))
          expect(node.current().revision).toBe(before.revision)
        }),
        { numRuns: 25 },
      )
    })

    test('a catalog store lists rows in the order of their creation, whatever is edited later', async () => {
      const { store, reopen } = await open()
      await store.putProvider(aProvider('main'), at(1))
      for (const id of ['b', 'a', 'c']) await store.putModel(aModel(id), at(2))

      await store.putModel(aModel('b', { displayName: 'B' }), at(3))

      expect([...store.current().models.keys()]).toEqual(['b', 'a', 'c'])
      expect([...(await reopen()).current().models.keys()]).toEqual(['b', 'a', 'c'])
    })

    test('a catalog store remembers when a model was made, over edits of it and of everything', async () => {
      const { store } = await open()
      await store.replace({ providers: [aProvider('main')], models: [aModel('x')] }, at(1))

      await store.putModel(aModel('x', { enabled: false }), at(2))
      await store.replace({ providers: [aProvider('main')], models: [aModel('new'), aModel('x')] }, at(3))

      const made = [...store.current().models.values()].map(({ id, createdAtMs }) => [id, createdAtMs])
      expect(made).toEqual([
        ['new', 3],
        ['x', 1],
      ])
    })

    test('a catalog store shows a draft to the operator alone, until it is finished', async () => {
      const { store } = await open()
      await store.putProvider(aProvider('main'), at(1))
      await store.putModel(aDraft('x'), at(2))
      const drafted = viewOf(store.current())

      await store.putModel(aModel('x'), at(3))

      expect(drafted).toMatchObject({ models: [], drafts: [{ id: 'x', createdAtMs: 2 }] })
      expect(viewOf(store.current())).toMatchObject({ models: [{ id: 'x', createdAtMs: 2 }], drafts: [] })
    })

    test('a catalog store refuses a model whose provider there is not, and names the field', async () => {
      const { store, audited } = await open()
      await store.putProvider(aProvider('main'), at(1, 'provider.put', 'main'))

      const refused = await refusal(store.putModel(aModel('x', {}, 'mian'), at(2)))

      expect(refused).toEqual([
        'invalid_field',
        'upstreams[0].provider',
        'upstreams[0].provider is "mian", which is not a provider of this catalog; did you mean "main"?',
      ])
      expect(store.current().models.size).toBe(0)
      expect(await audited()).toEqual(['provider.put main'])
    })

    test.each([aModel('x'), aDraft('x')])(
      'a catalog store refuses to delete a provider that a model uses (%#)',
      async model => {
        const { store } = await open()
        await store.replace({ providers: [aProvider('main')], models: [model] }, at(1))

        const refused = await refusal(store.deleteProvider('main', at(2)))

        expect(refused).toEqual([
          'invalid_field',
          'id',
          'Provider "main" is an upstream of "x". Give these another upstream or delete them first.',
        ])
        expect(store.current().providers.has('main')).toBe(true)
      },
    )

    test('a catalog store deletes a blob, once', async () => {
      const { store, audited, reopen } = await open()
      await store.replace({ providers: [aProvider('main')], models: [aModel('x'), aDraft('y')] }, at(1))

      const outcomes = [
        await store.deleteModel('x', at(2, 'model.delete', 'x')),
        await store.deleteModel('x', at(3, 'model.delete', 'x')),
        await store.deleteModel('y', at(4, 'model.delete', 'y')),
        await store.deleteProvider('main', at(5, 'provider.delete', 'main')),
        await store.deleteProvider('main', at(6, 'provider.delete', 'main')),
      ]

      expect(outcomes).toEqual([true, false, true, true, false])
      expect(store.current().revision).toBe(4)
      expect((await audited()).slice(1)).toEqual(['model.delete x', 'model.delete y', 'provider.delete main'])
      expect(viewOf((await reopen()).current())).toEqual({ providers: [], models: [], drafts: [] })
    })

    test.each([
      [
        'an unknown provider',
        { providers: [aProvider('main')], models: [aModel('x'), aModel('y', {}, 'other')] },
        'models[1].upstreams[0].provider',
      ],
      [
        'a model twice',
        { providers: [aProvider('main')], models: [aModel('x'), aDraft('x')] },
        'models[1].id',
      ],
      ['a provider twice', { providers: [aProvider('a'), aProvider('a')], models: [] }, 'providers[1].id'],
      [
        'nothing to keep',
        { providers: [aProvider('new', { secret: { from: 'keep' } })], models: [] },
        'providers[0].api_key',
      ],
    ] as readonly [string, CatalogSettings, string][])(
      'a catalog store replaces nothing for a catalog with %s',
      async (_, settings, field) => {
        const { store, reopen } = await open()
        await store.putProvider(aProvider('before'), at(1))
        const before = store.current()

        const [code, param] = await refusal(store.replace(settings, at(2)))

        expect([code, param]).toEqual(['invalid_field', field])
        expect(store.current()).toBe(before)
        expect((await reopen()).current()).toEqual(before)
      },
    )

    test('a catalog store replaces everything, leaving out what the new catalog has not', async () => {
      const { store, reopen } = await open()
      await store.replace(
        { providers: [aProvider('a'), aProvider('b')], models: [aModel('x', {}, 'a')] },
        at(1),
      )

      const settings = { providers: [aProvider('c'), aProvider('b')], models: [aModel('y', {}, 'c')] }
      await store.replace(settings, at(2))

      for (const { providers, models, revision } of [store.current(), (await reopen()).current()]) {
        expect([...providers.keys()]).toEqual(['c', 'b'])
        expect([...models.keys()]).toEqual(['y'])
        expect(revision).toBe(2)
      }
    })

    test('a catalog store takes a new order for a change', async () => {
      const { store, reopen } = await open()
      const models = [aModel('x'), aModel('y')]
      await store.replace({ providers: [aProvider('main')], models }, at(1))

      await store.replace({ providers: [aProvider('main')], models: models.toReversed() }, at(2))

      expect([...(await reopen()).current().models.keys()]).toEqual(['y', 'x'])
      expect(store.current().revision).toBe(2)
    })

    test('a catalog store previews a catalog without an edit, and refuses what an edit refuses', async () => {
      const { store, audited } = await open()
      await store.putProvider(aProvider('main'), at(1, 'provider.put', 'main'))
      const before = store.current()
      const settings = { providers: [aProvider('main')], models: [aModel('x')] }

      const preview = await store.preview(settings, 7)

      expect([...preview.models.keys()]).toEqual(['x'])
      expect(preview.providers.get('main')).toBe(before.providers.get('main'))
      expect(store.current()).toBe(before)
      expect(await audited()).toEqual(['provider.put main'])
      const refused = await refusal(store.preview({ providers: [], models: [aModel('x')] }, 7))
      expect(refused).toContain('models[0].upstreams[0].provider')
    })

    test('a catalog store replaces nothing if the check refuses, and shows it both catalogs', async () => {
      const { store, audited } = await open()
      await store.putProvider(aProvider('main'), at(1, 'provider.put', 'main'))
      const before = store.current()
      const shown: unknown[] = []

      const replaced = store.replace({ providers: [], models: [] }, at(2), (from, to) => {
        shown.push([from, [...to.providers.keys()]])
        throw new GatewayError('invalid_field', 'No.')
      })

      expect(await refusal(replaced)).toEqual(['invalid_field', undefined, 'No.'])
      expect(shown).toEqual([[before, []]])
      expect(store.current()).toBe(before)
      expect(await audited()).toEqual(['provider.put main'])
    })
  })

  storedKeysConform(kind)
  catalogHistoryConforms(kind)
  catalogNodesConform(kind)
  priceListsConform(kind)
}
