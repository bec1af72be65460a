import type { Config } from '../../config/config.ts'
import { countOn, missingVariables, providersWithoutKeys } from '../../domain/catalog/catalog.ts'
import { doubtfulKeys } from '../../domain/catalog/doubtful-keys.ts'
import { placeOf } from '../../gateway/ports/nodes/database-server.ts'
import type { NewLink } from '../../gateway/admin/users/links.ts'
import type { DataFolder } from '../data-folder.ts'
import type { FirstStart } from './first-start.ts'
import { otherBooks } from './new-books.ts'
import type { Parts } from '../parts.ts'
import { welcome } from './welcome.ts'

/**
 * Logs that the gateway listens, and what it lacks for its providers. Prints the same for the operator, with the keys
 * that this start created, unless the log is silent.
 */
export function reportStart(
  { log, admin, books }: Pick<Parts, 'log' | 'admin' | 'books'>,
  start: FirstStart & {
    readonly url: string
    readonly config: Config
    readonly folder: DataFolder
    readonly adminKey: { readonly key: string; readonly isNew: boolean }
    /** For the first owner of a gateway without users. */
    readonly ownerLink: NewLink | undefined
  },
): void {
  const { url, config, folder } = start
  const catalog = admin.catalog.current()
  const keyless = providersWithoutKeys(catalog)
  const missing = missingVariables(catalog, admin.isVariableSet)
  const others = folder.isNew && config.database === undefined ? otherBooks(folder.path) : []
  const database = config.database && placeOf(config.database)
  log.info('listening', { url, data_dir: folder.path, database })
  if (others.length > 0)
    log.warn('this start created new books, and there are others', { others: others.join(', ') })
  const anchorProblem = books.anchor.problem
  if (anchorProblem !== undefined)
    log.error('the books do not match their anchor: paid requests are refused', { problem: anchorProblem })
  if (keyless.length > 0)
    log.error('stored keys of providers cannot be read', { providers: keyless.join(', ') })
  if (missing.length > 0)
    log.warn('environment variables of provider keys are not set', { variables: missing.join(', ') })
  for (const warning of doubtfulKeys(catalog)) log.warn('a provider key is probably wrong', { warning })
  if (config.logLevel === 'silent') return
  process.stderr.write(
    welcome({
      ...start,
      keyless,
      anchorProblem,
      missingVariables: missing,
      hasModels: countOn(catalog, config) > 0,
      otherBooks: others,
    }),
  )
}
