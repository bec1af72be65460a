import { join } from 'node:path'
import { checkBlobKey, isBlobKey } from '../../gateway/ports/media/blobs.ts'

/**
 * Files are spread over folders named by the first characters of their names. Job ids begin with a prefix (`img_`)
 * and the time, so that each folder has the blobs of 17 minutes, and the order of folders and names is the order of
 * creation.
 */
const FOLDER_CHARS = 10

/** A slash of a key, in the name of its file. No key contains it. */
const SEPARATOR = '.'

/** The path of the file of a key, below the root of its kind. */
export type BlobPath = { readonly folder: string; readonly name: string }

/**
 * Throws a RangeError for text that is not a key. No key can name a file outside the root: its name has no slash and
 * no empty segment.
 */
export function blobPath(key: string): BlobPath {
  checkBlobKey(key)
  const name = key.replaceAll('/', SEPARATOR)
  return { folder: name.slice(0, FOLDER_CHARS), name }
}

export function fileIn(root: string, { folder, name }: BlobPath): string {
  return join(root, folder, name)
}

/** The key of a file's name; undefined for a file that is not a blob. */
export function keyOfName(name: string): string | undefined {
  const key = name.replaceAll(SEPARATOR, '/')
  return isBlobKey(key) ? key : undefined
}
