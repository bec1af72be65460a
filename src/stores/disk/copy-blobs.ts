import { constants } from 'node:fs'
import { copyFile, link, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, makeFolder, syncFolder, unlessAbsent } from './durable-files.ts'

/** The parts of a blob folder that have whole files. Files that are being written are elsewhere. */
const KINDS = ['live', 'archive']

const LINK_ERRORS = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * Copies all blobs of a folder that may be in use into another one, and creates that one if it does not exist. Durable
 * when it resolves. Existing files are not changed, so a second call only adds new files. A blob is never changed in
 * place, so a copy on the same file system is a hard link.
 */
export async function copyBlobs(from: string, to: string): Promise<void> {
  await makeFolder(to)
  for (const kind of KINDS) {
    await makeFolder(join(to, kind))
    for (const folder of await namesIn(join(from, kind))) {
      await copyFolder(join(from, kind, folder), join(to, kind, folder))
    }
    await syncFolder(join(to, kind))
  }
}

/** The number of files in a folder of blobs, including archived ones. */
export async function countBlobs(root: string): Promise<number> {
  let files = 0
  for (const kind of KINDS) {
    for (const folder of await namesIn(join(root, kind)))
      files += (await namesIn(join(root, kind, folder))).length
  }
  return files
}

async function copyFolder(from: string, to: string): Promise<void> {
  await makeFolder(to)
  const copied = new Set(await namesIn(to))
  for (const name of await namesIn(from)) {
    // A file can be removed during the copy.
    if (!copied.has(name)) await unlessAbsent(copyBlob(join(from, name), join(to, name)))
  }
  await syncFolder(to)
}

async function copyBlob(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!cannotLink(error)) throw error
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await syncFile(to)
  }
}

/** Whether a hard link is not possible: on another file system, or on one without hard links. */
export function cannotLink(error: unknown): boolean {
  return LINK_ERRORS.some(code => hasCode(error, code))
}

/** Makes the content of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessAbsent(readdir(folder))) ?? []
}
