import { resolve } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { Outcome } from '../../outcome.ts'
import { refusedInUse } from './backup.ts'

export type MigrateStoreOptions = {
  /** The file of the anchor, if it is not in the data folder. */
  readonly anchor: string | undefined
}

/** Copies the books of a data folder into the database of the settings. */
export type MigrateStore = (
  config: Config,
  options: MigrateStoreOptions,
  onStep?: (step: string) => void,
) => Promise<{
  readonly isNew: boolean
  /** The database, without its password. */
  readonly place: string
  readonly accounts: number
  readonly charges: number
  readonly commits: number
  readonly rows: number
}>

/** Copies the books into the database. The gateway must be stopped. */
export async function migrateStore(
  config: Config,
  options: MigrateStoreOptions,
  copy: MigrateStore,
): Promise<Outcome> {
  const copied = await copy(config, options).catch(
    refusedInUse('Its books can only be copied while it is stopped.'),
  )
  const { isNew, place, accounts, charges, commits, rows } = copied
  const dataDir = resolve(config.dataDir)
  const counted = `${accounts} accounts, ${charges} charges, ${commits} commits, ${rows} rows in all`
  const text = isNew
    ? `The books of ${dataDir} are in the database ${place}: ${counted}. All rows are equal, and both books balance.`
    : `Nothing is left to do: the books of ${dataDir} were copied into the database ${place} before (${counted}).`
  return {
    value: { data_dir: dataDir, copied_now: isNew, accounts, charges, commits, rows },
    text,
    note: `Start every gateway with TOLLGATE_DATABASE_URL from now on. A gateway without it would go on with the old books in ${dataDir}.`,
  }
}
