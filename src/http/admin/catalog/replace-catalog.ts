import {
  catalogChanges,
  refuseRemovals,
  removalsIn,
  type CatalogChanges,
  type FieldChange,
  type RowChange,
} from '../../../domain/catalog/catalog-changes.ts'
import { missingVariables, type Catalog, type CatalogSettings } from '../../../domain/catalog/catalog.ts'
import { doubtfulKeys } from '../../../domain/catalog/doubtful-keys.ts'
import { unpricedFeatures } from '../../../domain/catalog/unpriced-features.ts'
import { encodeCatalog } from '../../../domain/catalog/rows/catalog-rows.ts'
import { instant } from '../../../domain/time.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply } from '../call.ts'
import type { CatalogPorts } from '../ports.ts'
import { readRevision, readSwitch } from '../query.ts'

/**
 * Replaces the whole catalog. `?allow_removals=false` refuses a change that removes rows or stored keys.
 * `?dry_run=true` changes nothing, and replies with the changes. Both replies name the environment variables of keys
 * that this process does not have, and warn about keys that are probably wrong and about prices that may be too low.
 */
export async function replaceCatalog(
  settings: CatalogSettings,
  audit: Audit,
  { query, ports }: { readonly query: URLSearchParams; readonly ports: CatalogPorts },
): Promise<BufferedReply> {
  const isDryRun = readSwitch(query, 'dry_run', false)
  const mayRemove = readSwitch(query, 'allow_removals', true)
  const { catalog, isVariableSet } = ports
  const checkRevision = readRevision(query)
  if (isDryRun) {
    const before = catalog.current()
    checkRevision?.(before)
    const after = await catalog.preview(settings, audit.atMs)
    const changes = catalogChanges(before, after)
    return adminReply({
      dry_run: true,
      revision: before.revision,
      ...changesBody(changes),
      removals: removalsIn(changes, before),
      ...remarksOn(after, isVariableSet),
    })
  }
  const after = await catalog.replace(settings, audit, (before, changed) => {
    checkRevision?.(before)
    if (!mayRemove) refuseRemovals(before, changed)
  })
  return adminReply({ ...catalogBody(after), ...remarksOn(after, isVariableSet) })
}

/** Warnings about a catalog that is valid. */
function remarksOn(catalog: Catalog, isVariableSet: (variable: string) => boolean): object {
  return {
    missing_variables: missingVariables(catalog, isVariableSet),
    warnings: [...doubtfulKeys(catalog), ...unpricedFeatures(catalog)],
  }
}

/** The catalog with its revision. */
export function catalogBody(catalog: Catalog): object {
  return {
    revision: catalog.revision,
    updated_at: instant(catalog.updatedAtMs),
    ...encodeCatalog(catalog),
  }
}

/** The rows that differ between two catalogs. */
export function changesBody({ rows, isReordered }: CatalogChanges): object {
  return { changes: rows.map(changeBody), is_reordered: isReordered }
}

function changeBody({ kind, id, change, fields, losesKey }: RowChange): object {
  return {
    kind,
    id,
    change,
    fields: fieldsBody(fields),
    loses_key: losesKey,
  }
}

export function fieldsBody(fields: readonly FieldChange[]): readonly object[] {
  return fields.map(({ field, before = null, after = null }) => ({ field, before, after }))
}
