import { describe, expect, test } from 'bun:test'
import { aProvider, at, openCatalog, refusal } from '../../support/catalog-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What the catalog of any store must do with the keys of providers. */
export function storedKeysConform(kind: StoreKind): void {
  const open = () => openCatalog(kind)

  describe('a catalog store', () => {
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
  })
}
