import type { Catalog } from '../../domain/catalog/catalog.ts'
import { GatewayError } from '../../domain/errors.ts'
import { wrongField } from './body.ts'
import { readPage, refuseUnknown, type PageQuery } from '../list-query.ts'

/** Like `readPage`. Throws for an unknown parameter, instead of ignoring it. `others` names further known ones. */
export function readAdminPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  refuseUnknown(query, ['limit', 'cursor', ...others])
  return readPage(query)
}

/** A parameter that is `true` or `false`. */
export function readSwitch(query: URLSearchParams, name: string, otherwise: boolean): boolean {
  const text = query.get(name) ?? String(otherwise)
  if (text !== 'true' && text !== 'false') throw wrongField(name, 'must be true or false')
  return text === 'true'
}

/** The number of a revision of the catalog. Undefined without the parameter. */
export function revisionIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^\d{1,15}$/.test(text)) throw wrongField(name, 'must be the number of a revision')
  return Number(text)
}

/**
 * `?revision=`: the revision from which an edit was made. Throws `catalog_changed` if another edit came first, so that
 * two operators do not overwrite each other.
 */
export function readRevision(query: URLSearchParams): ((before: Catalog) => void) | undefined {
  const expected = revisionIn(query, 'revision')
  if (expected === undefined) return undefined
  return ({ revision }) => {
    if (revision === expected) return
    throw new GatewayError(
      'catalog_changed',
      `The catalog is at revision ${revision}, and this change was made from revision ${expected}. Nothing was changed. Read the catalog again and repeat the change.`,
      { param: 'revision' },
    )
  }
}
