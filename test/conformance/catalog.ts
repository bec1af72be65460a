import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Catalog, CatalogSettings } from '../../src/domain/catalog/catalog.ts'
import type { AnyModelSettings, ModelSettings } from '../../src/domain/catalog/model.ts'
import type { ListPrice, PriceList } from '../../src/domain/catalog/price-list.ts'
import type { ProviderSettings } from '../../src/domain/catalog/provider.ts'
import { usd } from '../../src/domain/money.ts'
import { GatewayError } from '../../src/domain/errors.ts'
import type { Audit } from '../../src/gateway/ports/audit.ts'
import { until } from '../../src/http1/testing/until.ts'
import { anyCatalog } from '../support/any-catalog.ts'
import { fakeClock } from '../support/fake-clock.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the catalog of any store must do. */
export function catalogConforms(kind: StoreKind): void {
  async function open() {
    const opened = await kind.open()
    return {
      store: opened.store.catalog,
      other: opened.other.catalog,
      accounts: opened.store.accounts,
      /** The actions and subjects of the audit log, oldest first. */
      audited: async () => {
        const lines = await opened.store.auditLog.list({ limit: 100 })
        return lines.toReversed().map(({ action, subject }) => `${action} ${subject}`)
      },
      reopen: async () => (await opened.reopen()).catalog,
    }
  }

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

    test('a catalog store keeps a stored key if an edit says so, also across a restart', async () => {
      const { store, reopen } = await open()
      await store.putProvider(aProvider('main', { secret: { from: 'literal', value: 'sk-1' } }), at(1))

      const { origin } = new URL(aProvider('main').baseUrl ?? '')
      await store.putProvider(aProvider('main', { secret: { from: 'keep' }, baseUrl: `${origin}/v2` }), at(2))

      for (const { providers } of [store.current(), (await reopen()).current()]) {
        expect(providers.get('main')).toMatchObject({
          baseUrl: `${origin}/v2`,
          secret: { from: 'literal', value: 'sk-1' },
        })
      }
    })

    test('a catalog store refuses to keep a key for another origin, so that no other server gets it', async () => {
      const { store } = await open()
      const settings = aProvider('main', { secret: { from: 'literal', value: 'sk-1' } })
      await store.putProvider({ ...settings, baseUrl: 'https://a.example.com/v1' }, at(1))
      const moved = { ...settings, secret: { from: 'keep' }, baseUrl: 'https://b.example.com/v1' } as const

      const refused = await refusal(store.putProvider(moved, at(2)))

      expect(refused).toEqual([
        'invalid_field',
        'api_key',
        'api_key says to keep the stored key of "main", but base_url moves from https://a.example.com to https://b.example.com; write the key for the new address, or env:NAME.',
      ])
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

    test.each([
      ['there is no provider yet', undefined],
      ['it has no key', { from: 'none' }],
      ['its key is in the environment', { from: 'environment', variable: 'KEY' }],
    ] as const)('a catalog store refuses to keep a key where %s', async (_, secret) => {
      const { store } = await open()
      if (secret !== undefined) await store.putProvider(aProvider('main', { secret }), at(1))

      const refused = await refusal(store.putProvider(aProvider('main', { secret: { from: 'keep' } }), at(2)))

      expect(refused).toEqual([
        'invalid_field',
        'api_key',
        'api_key says to keep the stored key of "main", but there is no stored key here; write the key itself, or env:NAME.',
      ])
    })

    test('a catalog store counts another key as a change, and drops a key that is no longer wanted', async () => {
      const { store, reopen } = await open()
      await store.putProvider(aProvider('main', { secret: { from: 'literal', value: 'sk-1' } }), at(1))
      await store.putProvider(aProvider('main', { secret: { from: 'literal', value: 'sk-2' } }), at(2))
      const changed = store.current()

      await store.putProvider(aProvider('main'), at(3))

      expect(changed.providers.get('main')?.secret).toEqual({ from: 'literal', value: 'sk-2' })
      expect(changed.revision).toBe(2)
      expect((await reopen()).current().providers.get('main')?.secret).toEqual({ from: 'none' })
    })

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

    test('a catalog store keeps price lists in the catalog, on every node and over a restart', async () => {
      const { store, other, reopen } = await open()
      await store.replace({ providers: [aProvider('main')], models: [aModel('x')] }, at(1))

      await store.putPriceList(aPriceList('partner', { x: { kind: 'free' } }), at(2))
      const edited = await store.putPriceList(aPriceList('friend'), at(3))

      expect([...edited.priceLists.keys()]).toEqual(['partner', 'friend'])
      expect((await other.refresh()).priceLists).toEqual(edited.priceLists)
      expect((await reopen()).current().priceLists).toEqual(edited.priceLists)
    })

    test('a catalog store leaves no trace of a price list that is stored again', async () => {
      const { store, audited } = await open()
      const before = await store.putPriceList(aPriceList('partner'), at(1, 'price_list.put', 'partner'))

      const after = await store.putPriceList(aPriceList('partner'), at(2, 'price_list.put', 'partner'))

      expect(after).toBe(before)
      expect(await audited()).toEqual(['price_list.put partner'])
    })

    test('a catalog store keeps its price lists when a catalog without any replaces it, unless it says that there are none', async () => {
      const { store } = await open()
      const rows = { providers: [aProvider('main')], models: [aModel('x')] }
      await store.putPriceList(aPriceList('partner'), at(1))

      const kept = await store.replace(rows, at(2))
      const removed = await store.replace({ ...rows, priceLists: [] }, at(3))

      expect([...kept.priceLists.keys()]).toEqual(['partner'])
      expect([...removed.priceLists.keys()]).toEqual([])
    })

    test('a catalog store has the price lists of each revision in its history', async () => {
      const { store } = await open()
      await store.putPriceList(aPriceList('partner'), at(1))
      await store.deletePriceList('partner', at(2))

      const changes = (await store.history({ limit: 2 })).map(row => row.changes)

      expect(changes).toEqual([
        [{ kind: 'price_list', id: 'partner', change: 'removed' }],
        [{ kind: 'price_list', id: 'partner', change: 'added' }],
      ])
      expect((await store.at(1))?.priceLists).toEqual([aPriceList('partner')])
      expect((await store.at(2))?.priceLists).toEqual([])
      expect(await store.deletePriceList('partner', at(3))).toBe(false)
    })

    test('a catalog store refuses a price of a model that it does not have, and any edit that leaves such a price', async () => {
      const { store } = await open()
      await store.replace({ providers: [aProvider('main')], models: [aModel('x'), aModel('y')] }, at(1))
      await store.putPriceList(aPriceList('partner', { x: { kind: 'free' } }), at(2))
      const before = store.current()

      const refusals = [
        await refusal(store.putPriceList(aPriceList('friend', { z: { kind: 'free' } }), at(3))),
        await refusal(store.deleteModel('x', at(3))),
        await refusal(store.replace({ providers: [aProvider('main')], models: [aModel('y')] }, at(3))),
        await refusal(store.putModel(aVideo('x'), at(3))),
      ]

      expect(refusals.map(([code, param]) => [code, param])).toEqual([
        ['invalid_field', 'prices.z'],
        ['invalid_field', 'id'],
        ['invalid_field', 'price_lists[0].prices.x'],
        ['invalid_field', 'price_lists[0].prices.x'],
      ])
      expect(store.current()).toBe(before)
    })

    test('a catalog store does not remove the price list of an open account, by any edit', async () => {
      const { store, accounts } = await open()
      await store.putPriceList(aPriceList('partner'), at(1))
      const ada = await accounts.createAccount({
        publicId: 'acct_ada',
        name: 'ada',
        sandboxOnly: false,
        audit: at(2),
      })
      await accounts.updateAccount(ada.publicId, { priceList: 'partner' }, at(3))
      const none = { providers: [], models: [], priceLists: [] }

      const refusals = [
        await refusal(store.deletePriceList('partner', at(4))),
        await refusal(store.replace(none, at(4))),
        await refusal(store.preview(none, 4)),
      ]

      expect(new Set(refusals.map(([code, , message]) => `${code} ${message}`))).toEqual(
        new Set([
          'invalid_field Price list "partner" is the list of these accounts: "ada". Give them another list, or none, before you remove it.',
        ]),
      )
      await accounts.closeAccount(ada.publicId, at(5))
      expect(await store.deletePriceList('partner', at(6))).toBe(true)
    })

    test('a catalog store removes a price list or lets an account have it, if two nodes do both at the same time', async () => {
      const { store, other, accounts } = await open()
      for (const publicId of ['acct_1', 'acct_2', 'acct_3', 'acct_4'])
        await accounts.createAccount({ publicId, name: publicId, sandboxOnly: false, audit: at(1) })

      for (const publicId of ['acct_1', 'acct_2', 'acct_3', 'acct_4']) {
        await store.putPriceList(aPriceList(publicId), at(2))
        const outcomes = await Promise.allSettled([
          accounts.updateAccount(publicId, { priceList: publicId }, at(3)),
          other.deletePriceList(publicId, at(3)),
        ])

        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
        const { priceList } = (await accounts.findAccount(publicId))!
        expect((await store.refresh()).priceLists.has(publicId)).toBe(priceList === publicId)
      }
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

function aProvider(id: string, own: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    id,
    kind: 'openai-compatible',
    baseUrl: 'https://api.example.com/v1',
    secret: { from: 'none' },
    headers: {},
    routes: ['chat', 'responses', 'embeddings'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
    ...own,
  }
}

function aModel(
  id: string,
  own: { readonly enabled?: boolean; readonly displayName?: string } = {},
  provider = 'main',
): ModelSettings {
  return {
    id,
    kind: 'chat',
    enabled: true,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider, model: id, order: 1, weight: 1 }],
    pricing: { kind: 'tariff', tariff: { input: usd('2.5'), output: usd('10') } },
    maxOutputTokens: 4096,
    ...own,
  }
}

function aVideo(id: string): ModelSettings {
  return {
    id,
    kind: 'video',
    enabled: true,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider: 'main', model: id, order: 1, weight: 1 }],
    pricing: { perSecond: usd('0.1') },
    engine: 'family-g',
    params: {},
    fixedParams: {},
    holdDurationSeconds: 8,
  }
}

/** A list with a factor of 0.8. */
function aPriceList(id: string, prices: Readonly<Record<string, ListPrice>> = {}): PriceList {
  return { id, factor: 800_000_000n, prices: new Map(Object.entries(prices)) }
}

function aDraft(id: string): AnyModelSettings {
  return {
    id,
    kind: 'chat',
    enabled: false,
    displayName: id,
    description: '',
    ownedBy: 'system',
    upstreams: [{ provider: 'main', model: id, order: 1, weight: 1 }],
  }
}

function at(atMs: number, action = 'edit', subject = 'it'): Audit {
  return { actor: 'admin', action, subject, atMs }
}

function rowsOf({ models, drafts }: Catalog): CatalogSettings['models'] {
  return [...models.values(), ...drafts.values()]
}

/** Everything but the revision, as lists: maps that are equal may differ in their order. */
function viewOf({ providers, models, drafts }: Catalog) {
  return { providers: [...providers.values()], models: [...models.values()], drafts: [...drafts.values()] }
}

async function refusal(edit: Promise<unknown>): Promise<readonly (string | undefined)[]> {
  const refused = await edit.then(
    () => {
      throw new Error('The edit was not refused.')
    },
    (error: GatewayError) => error,
  )
  return [refused.code, refused.extras.param, refused.message]
}
