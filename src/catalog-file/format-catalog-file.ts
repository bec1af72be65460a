import { Document, isCollection, isMap, isScalar, visit } from 'yaml'
import type { Catalog } from '../domain/catalog/catalog.ts'
import { encodeCatalog } from '../domain/catalog/rows/catalog-rows.ts'

/** Fields whose value is written on one line. */
const flowFields = new Set(['pricing', 'ceiling_pricing', 'fixed_params'])

/**
 * Writes the catalog as a file. Importing the file gives the same catalog. The file has no secrets: it has a
 * placeholder for a stored provider key, and an import keeps that key.
 */
export function formatCatalogFile(catalog: Catalog): string {
  const document = new Document(encodeCatalog(catalog), { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Pair(_, { key, value }) {
      if (isCollection(value) && isScalar(key) && flowFields.has(String(key.value))) value.flow = true
    },
    Seq(_, list) {
      // Upstreams and value sets are written on one line. The items of the two lists of rows have an id.
      list.flow = !list.items.some(item => isMap(item) && item.has('id'))
    },
  })
  return document.toString({ lineWidth: 0 })
}
