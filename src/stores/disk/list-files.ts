import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListedBlob } from '../../gateway/ports/media/blobs.ts'
import { fileIn, keyOfName, type BlobPath } from './blob-path.ts'
import { unlessAbsent } from './durable-files.ts'

/**
 * The files of a folder of folders in the order of their names, from behind `after`, that were written before an
 * instant.
 */
export async function listFiles(
  root: string,
  page: { readonly after: BlobPath | undefined; readonly limit: number; readonly olderThanMs: number },
): Promise<ListedBlob[]> {
  const { after, limit, olderThanMs } = page
  const listed: ListedBlob[] = []
  for (const folder of await foldersIn(root)) {
    if (after !== undefined && folder < after.folder) continue
    for (const name of await namesIn(join(root, folder))) {
      if (listed.length >= limit) return listed
      if (after !== undefined && name <= after.name) continue
      const blob = await findBlob(root, { folder, name })
      if (blob !== undefined && blob.writtenAtMs < olderThanMs) listed.push(blob)
    }
  }
  return listed
}

async function findBlob(root: string, path: BlobPath): Promise<ListedBlob | undefined> {
  const key = keyOfName(path.name)
  const file = key === undefined ? undefined : await unlessAbsent(stat(fileIn(root, path)))
  if (key === undefined || file === undefined) return undefined
  return { key, bytes: file.size, writtenAtMs: file.mtimeMs }
}

async function foldersIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true })
  return entries
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
    .sort()
}

async function namesIn(folder: string): Promise<string[]> {
  return ((await unlessAbsent(readdir(folder))) ?? []).sort()
}
