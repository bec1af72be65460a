import { Document, isCollection, isMap, isScalar, visit } from 'yaml'
import type { Catalog } from '../domain/catalog/catalog.ts'
import { encodeCatalog } from '../domain/catalog/rows/catalog-rows.ts'

/** Fields whose value reads best on one line. */
const flowFields = new Set(['pricing', 'ceiling_pricing', 'fixed_params'])

/**
 * The catalog as a file, whose import makes the same catalog again. It holds no secret: where a provider's key is kept here, the
 * file says so, and an import leaves that key as it is.
 */
export function formatCatalogFile(catalog: Catalog): string {
  const document = new Document(encodeCatalog(catalog), { aliasDuplicateObjects: false })
  visit(document, {
    Pair(_, { key, value }) {
      if (isCollection(value) && isScalar(key) && flowFields.has(String(key.value))) value.flow = true
    },
    Seq(_, list) {
      // Upstreams and value sets; the two lists of rows are the ones whose items have an id.
      list.flow = !list.items.some(item => isMap(item) && item.has('id'))
    },
  })
  return document.toString({ lineWidth: 0 })
}
