import { catalogChanges, removalsIn } from '../../domain/catalog/catalog-changes.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import { GatewayError } from '../../domain/errors.ts'

/** A longer list is not read. `dry_run` shows all. */
const NAMED_MAX = 10

/** Throws `removals_not_allowed` if the new catalog lacks rows or stored keys of the old one. Names them. */
export function refuseRemovals(before: Catalog, after: Catalog): void {
  const removals = removalsIn(catalogChanges(before, after), before)
  if (removals.length === 0) return
  const named = removals.slice(0, NAMED_MAX).join(', ')
  const others = removals.length > NAMED_MAX ? ` and ${removals.length - NAMED_MAX} more` : ''
  const losesKey = removals.some(text => text.startsWith('the stored key'))
  const hint = losesKey ? ' To keep a stored key, write api_key: <stored>.' : ''
  throw new GatewayError(
    'removals_not_allowed',
    `This would remove ${named}${others}, so nothing was changed.${hint}`,
  )
}
