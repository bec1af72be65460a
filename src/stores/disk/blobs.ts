import { randomUUID } from 'node:crypto'
import { open, readdir, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import type {
  BlobDamage,
  BlobRange,
  Blobs,
  KnownBlob,
  ListedBlob,
  OpenBlob,
  StoredBlob,
} from '../../gateway/ports/media/blobs.ts'
import { blobPath, fileIn } from './blob-path.ts'
import { makeFolder, moveDurably, removeFile, tidyFolder, unlessAbsent, writeFile } from './durable-files.ts'
import { FileHashes } from './file-hashes.ts'
import { FileStream } from './file-stream.ts'
import { listFiles } from './list-files.ts'

/**
 * Opens the blobs in a folder, and creates the folder if it does not exist. The folder must belong to this process
 * alone. Removes the files of writes that the end of an earlier process cut off.
 */
export async function openDiskBlobs(options: { readonly folder: string }): Promise<Blobs> {
  const folder = resolve(options.folder)
  const folders = {
    live: join(folder, 'live'),
    archive: join(folder, 'archive'),
    partial: join(folder, 'partial'),
  }
  await makeFolder(folder)
  for (const each of Object.values(folders)) await makeFolder(each)
  for (const name of await readdir(folders.partial)) {
    await rm(join(folders.partial, name), { recursive: true, force: true })
  }
  return new DiskBlobs(folders)
}

type Folders = {
  readonly live: string
  readonly archive: string
  /** Files that are being written. On the same file system, so that a rename is one step. */
  readonly partial: string
}

class DiskBlobs implements Blobs {
  readonly #folders: Folders
  readonly #hashes = new FileHashes()

  constructor(folders: Folders) {
    this.#folders = folders
  }

  async write(
    key: string,
    source: ByteStream,
    { bytesMax }: { readonly bytesMax: number },
  ): Promise<StoredBlob> {
    const partial = join(this.#folders.partial, randomUUID())
    try {
      const path = this.#liveFile(key)
      const stored = await writeFile(partial, source, bytesMax)
      const written = await stat(partial, { bigint: true })
      const isMoved = await moveDurably(partial, path)
      if (!isMoved) throw new Error('A blob that was being written is gone: another process uses the folder.')
      const moved = await unlessAbsent(stat(path, { bigint: true }))
      // Another write may have replaced it since.
      if (moved?.ino === written.ino && moved.mtimeNs === written.mtimeNs)
        this.#hashes.note(path, moved, stored.sha256)
      return stored
    } catch (error) {
      source.cancel()
      await rm(partial, { force: true })
      throw error
    }
  }

  async read(key: string, range?: BlobRange): Promise<OpenBlob | undefined> {
    const file = await unlessAbsent(open(this.#liveFile(key), 'r'))
    if (file === undefined) return undefined
    try {
      return await openPart(file, range)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async readIntact(known: KnownBlob, range?: BlobRange): Promise<OpenBlob | BlobDamage> {
    const path = this.#liveFile(known.key)
    const file = await unlessAbsent(open(path, 'r'))
    if (file === undefined) return 'missing'
    try {
      const blob = await openPart(file, range)
      const isIntact = blob.bytes === known.bytes && (await this.#hashes.of(file, path)) === known.sha256
      if (isIntact) return blob
      await file.close()
      return 'changed'
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async damageOf(known: KnownBlob): Promise<BlobDamage | undefined> {
    try {
      const path = this.#liveFile(known.key)
      await using file = await unlessAbsent(open(path, 'r'))
      if (file === undefined) return 'missing'
      const { size } = await file.stat()
      const isIntact = size === known.bytes && (await this.#hashes.anew(file, path)) === known.sha256
      return isIntact ? undefined : 'changed'
    } catch {
      return 'unreadable'
    }
  }

  async remove(key: string): Promise<void> {
    await removeFile(this.#liveFile(key))
  }

  async archive(key: string): Promise<void> {
    const from = this.#liveFile(key)
    if ((await unlessAbsent(stat(from))) === undefined) return
    const isMoved = await moveDurably(from, fileIn(this.#folders.archive, blobPath(key)))
    if (isMoved) await tidyFolder(dirname(from))
  }

  async list(page: {
    readonly after?: string
    readonly limit: number
    readonly olderThanMs: number
  }): Promise<readonly ListedBlob[]> {
    const after = page.after === undefined ? undefined : blobPath(page.after)
    return listFiles(this.#folders.live, { ...page, after })
  }

  /** The next start removes the files of writes that were cut off: the folder has one process. */
  async removeUnfinished(): Promise<void> {}

  #liveFile(key: string): string {
    return fileIn(this.#folders.live, blobPath(key))
  }
}

async function openPart(file: FileHandle, range: BlobRange | undefined): Promise<OpenBlob> {
  const { size } = await file.stat()
  const start = Math.max(0, range?.start ?? 0)
  const end = Math.min(size, range?.end ?? size)
  return { bytes: size, stream: new FileStream(file, { start, end }) }
}
