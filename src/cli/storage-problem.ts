import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** A sentence for an error code. `path` is the file, or the database for an error of SQLite. */
type Explain = (place: { readonly path: string; readonly dataDir: string }) => string

const ANOTHER_PATH = 'Set TOLLGATE_DATA_DIR to another path.'

const notAFolder: Explain = ({ dataDir }) =>
  `The data folder ${dataDir} cannot be used, because it or a part of its path is a file. ${ANOTHER_PATH}`

const damaged: Explain = ({ path }) =>
  `The database ${path} is damaged. Stop the gateway, move the file and its -wal file to another folder, and restore the data folder from a backup.`

const full: Explain = ({ path }) => `The disk of ${path} is full. Free some space, and run the command again.`

const explanations: Readonly<Record<string, Explain>> = {
  EACCES: forbidden,
  EPERM: forbidden,
  SQLITE_CANTOPEN: forbidden,
  SQLITE_READONLY: forbidden,
  EROFS: ({ path }) =>
    `${path} is on a read-only file system. Set TOLLGATE_DATA_DIR to a folder that can be written.`,
  ENOTDIR: notAFolder,
  EEXIST: notAFolder,
  EISDIR: ({ path }) => `${path} is a folder, and the gateway needs a file of that name. ${ANOTHER_PATH}`,
  ENOSPC: full,
  EDQUOT: full,
  SQLITE_FULL: full,
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: ({ path }) =>
    `${path} is not a database. If it was one, restore it from a backup. Otherwise, set TOLLGATE_DATA_DIR to another path.`,
  SQLITE_IOERR: ({ path }) =>
    `The disk failed to read or write the database ${path}. Check the disk. If the failure continues, restore the data folder from a backup on another disk.`,
}

/**
 * The sentence for an error of the file system or of SQLite: it names the path and what to do. Undefined for other
 * errors. `dataDir` is absolute.
 */
export function storageProblem(error: unknown, dataDir: string): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, path } = cause as NodeJS.ErrnoException
    // SQLite's extended codes have its code as their start, such as SQLITE_IOERR_WRITE.
    const known = Object.keys(explanations).find(name => code === name || code?.startsWith(`${name}_`))
    if (known !== undefined)
      return explanations[known]?.({ path: resolve(path ?? join(dataDir, 'tollgate.db')), dataDir })
  }
  return undefined
}

function forbidden({ path, dataDir }: Parameters<Explain>[0]): string {
  const user = process.geteuid?.() ?? 0
  const owner = ownerOf(dataDir)
  const problem = `This user (id ${user}) has no permission for ${path}.`
  if (owner === undefined)
    return `${problem} Set TOLLGATE_DATA_DIR to a folder that this user can create or write.`
  if (owner === user) return `${problem} Run: chmod -R u+rwX ${dataDir}`
  return `${problem} The data folder belongs to the user with id ${owner}. Run the command as that user, or give the folder to this user: chown -R ${user} ${dataDir}`
}

/** The owner of the folder; undefined if there is no such folder, or if it cannot be seen. */
function ownerOf(folder: string): number | undefined {
  try {
    return statSync(folder).uid
  } catch {
    return undefined
  }
}
