import { describe, expect, test } from 'bun:test'
import { EMPTY_CATALOG, type Catalog } from './catalog.ts'
import { decodeCatalog, encodeCatalog } from './rows/catalog-rows.ts'
import { SANDBOX_CATALOG } from './sandbox-catalog.ts'

describe('the sandbox catalog', () => {
  test('the sandbox catalog passes the checks of every catalog', () => {
    const catalog = {
      ...EMPTY_CATALOG,
      providers: new Map(SANDBOX_CATALOG.providers.map(provider => [provider.id, provider])),
      models: new Map(SANDBOX_CATALOG.models.map(model => [model.id, model])),
    } as unknown as Catalog

    expect(decodeCatalog(encodeCatalog(catalog))).toEqual({ ok: true, value: SANDBOX_CATALOG })
  })

  test('the sandbox catalog says "sandbox" in each id, name and description', () => {
    for (const { id, displayName, description } of SANDBOX_CATALOG.models) {
      for (const text of [id, displayName, description]) expect(text.toLowerCase()).toContain('sandbox')
    }
  })
})
