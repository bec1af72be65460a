import { describe, expect, test } from 'bun:test'
import {
  aModel,
  aPriceList,
  aProvider,
  aVideo,
  at,
  openCatalog,
  refusal,
} from '../../support/catalog-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What the catalog of any store must do with price lists. */
export function priceListsConform(kind: StoreKind): void {
  const open = () => openCatalog(kind)

  describe('a catalog store', () => {
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
  })
}
