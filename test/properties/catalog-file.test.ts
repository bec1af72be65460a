import fc from 'fast-check'
import { expect, test } from 'bun:test'
import { parse } from 'yaml'
import { formatCatalogFile, parseCatalogFile } from '../../src/catalog-file/catalog-file.ts'
import type { Catalog } from '../../src/domain/catalog/catalog.ts'
import { decodeCatalog, encodeCatalog } from '../../src/domain/catalog/rows/catalog-rows.ts'
import { anyCatalog } from '../support/any-catalog.ts'

test('importing an exported catalog file gives the same catalog, except for its secrets', () => {
  fc.assert(
    fc.property(anyCatalog, catalog => {
      const text = formatCatalogFile(catalog)

      const parsed = parseCatalogFile(text)

      expect(parsed).toEqual({ ok: true, catalog: settingsOf(catalog) } as never)
      for (const { secret } of catalog.providers.values()) {
        // A very short key could appear in any text.
        if (secret.from === 'literal' && secret.value.length > 12) expect(text).not.toContain(secret.value)
      }
    }),
    { numRuns: 200 },
  )
})

test('a catalog is unchanged after encoding and decoding its JSON rows', () => {
  fc.assert(
    fc.property(anyCatalog, catalog => {
      const rows: unknown = JSON.parse(JSON.stringify(encodeCatalog(catalog)))

      expect(decodeCatalog(rows)).toEqual({ ok: true, value: settingsOf(catalog) } as never)
    }),
  )
})

function settingsOf({ providers, models, drafts, priceLists }: Catalog) {
  return {
    providers: [...providers.values()].map(provider =>
      Object.assign({}, provider, provider.secret.from === 'literal' ? { secret: { from: 'keep' } } : {}),
    ),
    models: [...models.values(), ...drafts.values()].map(row =>
      Object.fromEntries(Object.entries(row).filter(([field]) => field !== 'createdAtMs')),
    ),
    ...(priceLists.size > 0 && { priceLists: [...priceLists.values()] }),
  }
}

test('an exported catalog file means the same to a reader of YAML 1.1', () => {
  fc.assert(
    fc.property(anyCatalog, catalog => {
      const text = formatCatalogFile(catalog)

      // YAML 1.1 reads 16:9 as the number 969, and `no` as false.
      const read: unknown = parse(text, { version: '1.1' })

      expect(read).toEqual(JSON.parse(JSON.stringify(encodeCatalog(catalog))))
    }),
  )
})
