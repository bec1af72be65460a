import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatFileProblem, parseCatalogFile } from '../../catalog-file/catalog-file.ts'
import { ConfigError } from '../../config/config.ts'
import { fileReason } from '../../config/file-reason.ts'
import { auditOf } from '../../gateway/admin/operator.ts'
import type { CatalogPorts } from '../../http/admin/ports.ts'

/**
 * Imports the file that `TOLLGATE_CATALOG` names. If the file has a mistake, throws a ConfigError with the line and the
 * field of each one, and changes nothing.
 */
export async function importCatalogFile(path: string, { catalog, clock }: CatalogPorts): Promise<void> {
  const parsed = parseCatalogFile(readText(path))
  if (!parsed.ok) {
    throw new ConfigError(
      parsed.problems.map(problem => `TOLLGATE_CATALOG ${path}: ${formatFileProblem(problem)}`),
    )
  }
  await catalog.replace(
    parsed.catalog,
    auditOf({ actor: 'startup', action: 'catalog.replace', subject: 'TOLLGATE_CATALOG' }, clock),
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConfigError([
      `TOLLGATE_CATALOG names ${resolve(path)}, which cannot be read: ${fileReason(cause)}.`,
    ])
  }
}
