import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { lockFolder } from '../../stores/sqlite/database/folder-lock.ts'
import { backupFiles } from '../backup/backup-files.ts'
import { openDataFolder, type DataFolder } from '../data-folder.ts'
import {
  decideRestore,
  finishRestore,
  isRestoreUnfinished,
  refuseTakenName,
  stagingFolder,
} from './restored-books.ts'
import { stageBackup } from './stage-backup.ts'

export type RestoreRequest = {
  readonly file: string
  /** Why books that are there are replaced. Undefined refuses to replace any. */
  readonly replace: string | undefined
  /** Restores only the books, and leaves the files of jobs as they are. */
  readonly isWithoutBlobs: boolean
}

export type Restored = {
  /** The backup whose books are in the data folder now. */
  readonly file: string
  readonly commits: number
  readonly entries: number
  /** The folder with the replaced books; undefined if there were none. */
  readonly replaced: string | undefined
  /** This call finished a restore that had been interrupted, and did nothing else. */
  readonly isFinished: boolean
  readonly hasSecretKey: boolean
  /** The file with the new anchor. */
  readonly anchor: string
}

/**
 * Puts the books of a backup into the data folder, with a new anchor and a line of the audit log. They are copied and
 * checked first, so that a failure or a kill changes nothing; from then on, a kill leaves work that the next call
 * finishes. Throws `DataFolderInUseError` while a gateway runs on the folder, and an Error for the operator if it
 * refuses. `onStep` is called with each step that can take minutes, for the operator.
 */
export async function restoreBackup(
  config: Config,
  request: RestoreRequest,
  onStep: (step: string) => void = () => undefined,
): Promise<Restored> {
  if (config.database !== undefined)
    throw new Error(
      'The books are in a PostgreSQL database. Restore it with its own tools. See docs/operating/many-nodes.md. To restore a file into the data folder, unset TOLLGATE_DATABASE_URL.',
    )
  // Checked before the folder is created, because one of the two paths is probably mistyped.
  if (!existsSync(config.dataDir)) refuseMissing(resolve(request.file))
  const folder = openDataFolder(config.dataDir)
  const anchorPath = resolve(config.anchorFile ?? folder.anchor)
  const lock = lockFolder(folder.path)
  try {
    const isFinished = isRestoreUnfinished(folder)
    if (!isFinished) await prepare(folder, anchorPath, { ...request, file: resolve(request.file), onStep })
    onStep('Moving the books into their place')
    const { file, end, entries, aside } = await finishRestore(folder, anchorPath)
    return {
      file,
      entries,
      commits: end.number,
      replaced: existsSync(resolve(folder.path, aside)) ? resolve(folder.path, aside) : undefined,
      isFinished,
      hasSecretKey: folder.hasSecretKey,
      anchor: anchorPath,
    }
  } finally {
    lock.release()
  }
}

/** Makes the books ready to be moved into their place. */
async function prepare(
  folder: DataFolder,
  anchorPath: string,
  { file, replace, isWithoutBlobs, onStep }: RestoreRequest & { readonly onStep: (step: string) => void },
): Promise<void> {
  refuseMissing(file)
  refuseTakenName(folder)
  if (existsSync(folder.database) && replace === undefined)
    throw new Error(
      `There are books in ${folder.path}. To replace them, repeat the command with --replace REASON. They are kept in another folder.`,
    )
  const { blobs } = backupFiles(file)
  if (!isWithoutBlobs && !existsSync(blobs))
    throw new Error(
      `${blobs} is missing: it has the files of image and video jobs. Put it beside the backup, or leave these files as they are with --without-blobs.`,
    )
  const detail = await reasonFor(replace, anchorPath)
  const staged = await stageBackup({
    file,
    detail,
    onStep,
    staging: stagingFolder(folder),
    replacedBlobs: isWithoutBlobs ? undefined : folder.blobs,
  })
  await decideRestore(folder, { file, aside: newFolderIn(folder.path), ...staged })
}

function refuseMissing(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
}

/** The name of a new folder for replaced books. */
function newFolderIn(path: string): string {
  const name = `replaced-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  for (let count = 2, free = name; ; free = `${name}-${count}`, count += 1) {
    if (!existsSync(resolve(path, free))) return free
  }
}

/** The detail of the audit line: the reason, and the last commit of the replaced books. */
async function reasonFor(replace: string | undefined, anchorPath: string): Promise<string> {
  const anchor = await diskAnchorFile(anchorPath)
    .read()
    .catch(() => undefined)
  const commits = anchor?.map(({ number }) => number).join(', ')
  const before = commits === undefined ? 'there was no anchor' : `the anchor named commit ${commits}`
  return `${replace ?? 'no books were replaced'} (${before})`
}
