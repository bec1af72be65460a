import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { isOwnName } from '../data-folder.ts'
import { unlessAbsent } from '../../stores/disk/durable-files.ts'
import { backupFiles } from './backup-files.ts'

/** The path belongs to the gateway. */
export class OwnFileError extends Error {
  override readonly name = 'OwnFileError'
}

/**
 * Throws `OwnFileError` for a backup that would write among the gateway's own files, and an error of the file system if
 * the folder of `file` does not exist. Other files and folders within the data folder are allowed.
 */
export async function refuseOwnFiles(
  file: string,
  { dataFolder, blobs }: { readonly dataFolder: string; readonly blobs: string },
): Promise<void> {
  const folder = await realpath(dirname(file))
  const data = await realpath(dataFolder)
  // The files of jobs can be on another disk, with a symbolic link in the data folder.
  const jobFiles = await unlessAbsent(realpath(blobs))
  const { partial, ...files } = backupFiles(join(folder, basename(file)))
  for (const path of [...Object.values(files), ...Object.values(partial)]) {
    const name = firstNameIn(data, path)
    const isInJobFiles = jobFiles !== undefined && firstNameIn(jobFiles, path) !== undefined
    if (isInJobFiles || (name !== undefined && isOwnName(name))) throw new OwnFileError(path)
  }
}

/**
 * The name of the file or folder within `folder` that has `path`; empty for the folder itself, undefined if it is
 * elsewhere.
 */
function firstNameIn(folder: string, path: string): string | undefined {
  const [first] = relative(folder, path).split(sep)
  return first === '..' ? undefined : first
}
