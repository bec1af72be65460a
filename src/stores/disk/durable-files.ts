import { createHash } from 'node:crypto'
import { mkdir, open, rename, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import { BlobTooLargeError, type StoredBlob } from '../../gateway/ports/media/blobs.ts'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** A bound for moves that race with removals from the same folder; the second attempt nearly always succeeds. */
const MOVE_ATTEMPTS_MAX = 10

/** Writes all bytes of a stream to a new file. They are durable when it resolves; the file's name is not. */
export async function writeFile(path: string, source: ByteStream, bytesMax: number): Promise<StoredBlob> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
      bytes += piece.length
      if (bytes > bytesMax) throw new BlobTooLargeError(bytesMax)
      hash.update(piece)
      for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten
    }
    await file.sync()
    return { sha256: hash.digest('hex'), bytes }
  } finally {
    await file.close()
  }
}

/**
 * Gives a file another name in one durable step, and creates its folder if it does not exist. Replaces a file of that
 * name. False if there is no file `from`.
 */
export async function moveDurably(from: string, to: string): Promise<boolean> {
  const folder = dirname(to)
  for (let attempt = 1; attempt <= MOVE_ATTEMPTS_MAX; attempt += 1) {
    await makeSharedFolder(folder)
    if (await unlessAbsent(rename(from, to).then(() => true))) {
      // Another call may have made the folder a moment ago, and not have reached this line.
      await Promise.all([syncFolder(folder), syncFolder(dirname(folder))])
      return true
    }
    if ((await unlessAbsent(stat(from))) === undefined) return false
    // Otherwise another call has removed the new folder, because it was empty.
  }
  throw new Error(`The folder ${folder} was removed ${MOVE_ATTEMPTS_MAX} times while a file was moved to it.`)
}

/**
 * Creates a folder that another call may remove at any time. Bun then reports EEXIST for a folder that it found and
 * that is gone a moment later.
 */
async function makeSharedFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
}

/** Creates a folder for this user alone, durably. Changes nothing if it exists. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  await syncFolder(dirname(folder))
}

/** Removes a file, durably, and its folder if nothing else is in it. Changes nothing if there is no such file. */
export async function removeFile(path: string): Promise<void> {
  await unlessAbsent(unlink(path))
  await tidyFolder(dirname(path))
}

/** For a folder that a file has left: makes that durable, and removes the folder if it is empty. */
export async function tidyFolder(folder: string): Promise<void> {
  await syncFolder(folder)
  await rmdir(folder).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some(code => hasCode(error, code))) throw error
  })
}

/** The result of an operation on a file; undefined if there is no such file. */
export async function unlessAbsent<Result>(operation: Promise<Result>): Promise<Result | undefined> {
  try {
    return await operation
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Makes the names in a folder durable. Does nothing if the folder has been removed. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await unlessAbsent(open(folder, 'r'))
  if (handle === undefined) return
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Whether an operation failed with this code of the system, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
