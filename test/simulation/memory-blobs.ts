import { createHash } from 'node:crypto'
import type { Bytes } from '../../src/domain/bytes.ts'
import { BlobTooLargeError, checkBlobKey } from '../../src/gateway/ports/media/blobs.ts'
import type {
  BlobDamage,
  BlobRange,
  Blobs,
  KnownBlob,
  ListedBlob,
  OpenBlob,
  StoredBlob,
} from '../../src/gateway/ports/media/blobs.ts'
import type { ByteStream } from '../../src/gateway/ports/byte-stream.ts'

type File = { readonly bytes: Bytes; readonly writtenAtMs: number }

/** What survives a kill: whole blobs, by their keys. All nodes of a run share one. */
export class Disk {
  readonly live = new Map<string, File>()
  readonly archive = new Map<string, File>()
}

/** Called before each step of a call that the store takes on the disk. */
export type BeforeStep = (label: string) => Promise<void>

const PIECE_BYTES = 4096

/**
 * The blob store of one node, on a disk in memory. A write becomes visible, and survives a kill, in its last step. What
 * a killed node had written before that step is gone.
 */
export class MemoryBlobs implements Blobs {
  readonly #disk: Disk
  readonly #before: BeforeStep
  readonly #now: () => number

  constructor(disk: Disk, { before, now }: { readonly before: BeforeStep; readonly now: () => number }) {
    this.#disk = disk
    this.#before = before
    this.#now = now
  }

  async write(key: string, source: ByteStream, limits: { readonly bytesMax: number }): Promise<StoredBlob> {
    try {
      checkBlobKey(key)
      const bytes = await this.#collect(source, limits.bytesMax)
      await this.#before('blobs.write')
      this.#disk.live.set(key, { bytes, writtenAtMs: this.#now() })
      await this.#before('blobs.write answered')
      return { sha256: sha256Of(bytes), bytes: bytes.length }
    } catch (error) {
      source.cancel()
      throw error
    }
  }

  async read(key: string, range?: BlobRange): Promise<OpenBlob | undefined> {
    checkBlobKey(key)
    await this.#before('blobs.read')
    const file = this.#disk.live.get(key)
    if (file === undefined) return undefined
    const start = Math.max(0, range?.start ?? 0)
    return { bytes: file.bytes.length, stream: new Pieces(file.bytes.subarray(start, range?.end)) }
  }

  async readIntact(known: KnownBlob, range?: BlobRange): Promise<OpenBlob | BlobDamage> {
    return (await this.damageOf(known)) ?? (await this.read(known.key, range)) ?? 'missing'
  }

  async damageOf({ key, bytes, sha256 }: KnownBlob): Promise<BlobDamage | undefined> {
    checkBlobKey(key)
    const file = this.#disk.live.get(key)
    if (file === undefined) return 'missing'
    const isIntact = file.bytes.length === bytes && sha256Of(file.bytes) === sha256
    return isIntact ? undefined : 'changed'
  }

  async remove(key: string): Promise<void> {
    checkBlobKey(key)
    await this.#before('blobs.remove')
    this.#disk.live.delete(key)
    await this.#before('blobs.remove answered')
  }

  async archive(key: string): Promise<void> {
    checkBlobKey(key)
    await this.#before('blobs.archive')
    const file = this.#disk.live.get(key)
    if (file !== undefined) this.#disk.archive.set(key, file)
    this.#disk.live.delete(key)
    await this.#before('blobs.archive answered')
  }

  async list(page: {
    readonly after?: string
    readonly limit: number
    readonly olderThanMs: number
  }): Promise<readonly ListedBlob[]> {
    const { after, limit, olderThanMs } = page
    if (after !== undefined) checkBlobKey(after)
    await this.#before('blobs.list')
    return [...this.#disk.live]
      .filter(([key, { writtenAtMs }]) => key > (after ?? '') && writtenAtMs < olderThanMs)
      .map(([key, { bytes, writtenAtMs }]) => ({ key, bytes: bytes.length, writtenAtMs }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit)
  }

  async removeUnfinished(): Promise<void> {}

  async #collect(source: ByteStream, bytesMax: number): Promise<Bytes> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
      bytes += piece.length
      if (bytes > bytesMax) throw new BlobTooLargeError(bytesMax)
      pieces.push(piece.slice())
      await this.#before('blobs.write piece')
    }
    return Uint8Array.from(Buffer.concat(pieces))
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Bytes in pieces of a few kilobytes. */
export class Pieces implements ByteStream {
  readonly #bytes: Bytes
  #at = 0

  constructor(bytes: Bytes) {
    this.#bytes = bytes
  }

  async read(): Promise<Bytes | undefined> {
    // Bytes come later than they are asked for, and a reader that has left gets none.
    await Promise.resolve()
    if (this.#at >= this.#bytes.length) return undefined
    const piece = this.#bytes.slice(this.#at, this.#at + PIECE_BYTES)
    this.#at += piece.length
    return piece
  }

  cancel(): void {
    this.#at = this.#bytes.length
  }
}
