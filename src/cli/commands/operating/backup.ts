import { resolve } from 'node:path'
import type { Config } from '../../../config/config.ts'
import { LONG_TIMEOUT_MS, withQuery, type Ask } from '../../ask.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'

/** Writes a backup to a new file. */
export async function backUp(ask: Ask, file: string): Promise<Outcome> {
  const backup = await ask<{
    file: string
    bytes: number
    commits: number
    job_files: number
    job_files_folder: string
    results_in: string | null
  }>({ method: 'POST', path: 'backups', json: { file: resolve(file) }, timeoutMs: LONG_TIMEOUT_MS })
  const text = [
    `Backup: ${backup.file} (${backup.bytes} bytes, ${backup.commits} commits).`,
    `Files of image and video jobs: ${backup.job_files_folder} (${backup.job_files}).`,
  ].join('\n')
  const results =
    backup.results_in === null
      ? ''
      : `\nThe results of jobs are in ${backup.results_in} and not in the backup. Protect that bucket with versions.`
  return {
    value: backup,
    text,
    note: `The backup does not have secret.key. Keep a copy of it in another place.${results}`,
  }
}

/** Prints one page of the backups that were made, newest first. */
export async function listBackups(
  ask: Ask,
  { limit, cursor }: { readonly limit: string; readonly cursor?: string },
): Promise<Outcome> {
  type Row = {
    readonly file: string
    readonly made_at: string
    readonly made_by: string
    readonly bytes: number | null
  }
  const page = await ask<{
    readonly data: readonly Row[]
    readonly next: string | null
    readonly made_elsewhere: string | null
  }>({ method: 'GET', path: withQuery('backups', { limit, cursor }) })
  const rows = page.data.map(({ file, made_at: at, made_by: by, bytes }) => [
    at,
    bytes === null ? 'not here' : `${bytes} bytes`,
    by,
    file,
  ])
  const notes = [
    ...(page.made_elsewhere === null ? [] : [page.made_elsewhere]),
    ...(page.next === null ? [] : [`Older backups: --cursor ${page.next}`]),
  ]
  return {
    value: page,
    text: rows.length === 0 ? 'No backups.' : table(['MADE AT', 'FILE NOW', 'MADE BY', 'FILE'], rows),
    ...(notes.length === 0 ? {} : { note: notes.join('\n') }),
  }
}

export type RestoreOptions = {
  readonly file: string
  /** Why the books that are there are replaced. */
  readonly replace: string | undefined
  readonly isWithoutBlobs: boolean
}

/** Puts the books of a backup into the data folder of a stopped gateway. */
export type RestoreBackup = (
  config: Config,
  options: RestoreOptions,
  onStep?: (step: string) => void,
) => Promise<{
  readonly file: string
  readonly commits: number
  readonly entries: number
  readonly replaced: string | undefined
  readonly isFinished: boolean
  readonly hasSecretKey: boolean
  readonly anchor: string
}>

/** Restores a backup. The gateway must be stopped. */
export async function restore(
  config: Config,
  options: RestoreOptions,
  restoreBackup: RestoreBackup,
): Promise<Outcome> {
  const restored = await restoreBackup(config, options).catch(
    refusedInUse('A backup can only be restored while the gateway is stopped.'),
  )
  const { file, commits, entries, replaced, isFinished, hasSecretKey, anchor } = restored
  const dataDir = resolve(config.dataDir)
  const lines = [
    isFinished
      ? `An interrupted restore was finished: ${dataDir} has the books of ${file}.`
      : `Restored ${file} into ${dataDir}.`,
    `The books balance: ${entries} entries, ${commits} commits. The anchor ${anchor} names the last one.`,
  ]
  if (replaced !== undefined)
    lines.push(`The replaced books are in ${replaced}. Delete that folder when you no longer need it.`)
  const keyNote = `Put your secret.key into ${dataDir} before the start, or enter the provider keys again.`
  return {
    value: {
      file,
      data_dir: dataDir,
      commits,
      entries,
      replaced: replaced ?? null,
      finished_interrupted: isFinished,
      has_secret_key: hasSecretKey,
      anchor_file: anchor,
    },
    text: lines.join('\n'),
    note: `${hasSecretKey ? '' : `${keyNote}\n`}Changes after the backup are not in the restored books: charges, credits, new and revoked keys. See "Restore" in docs/backup.md.`,
  }
}

/** Ends a command whose data folder a gateway uses, with a sentence that says why it needs the folder alone. */
export function refusedInUse(reason: string): (error: unknown) => never {
  return error => {
    if (!(error instanceof Error && error.name === 'DataFolderInUseError')) throw error
    throw new CliError(`${error.message} ${reason}`, { exitCode: 1, code: 'data_folder_in_use' })
  }
}
