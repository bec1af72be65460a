import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** Files whose hash is kept, at about 300 bytes each. */
const FILES_KEPT_MAX = 20_000
/** The memory of one file that is being hashed. One piece takes less than a millisecond. */
const PIECE_BYTES = 128 * 1024

type Hashed = { readonly version: string; readonly sha256: string }

/**
 * The SHA-256 of files, kept in memory. A file is hashed again if its inode, its size or one of its times has changed:
 * no program can set the time of the last change of a file to a value of its choice.
 */
export class FileHashes {
  readonly #keptMax: number
  readonly #kept = new Map<string, Hashed>()
  readonly #running = new Map<string, Promise<string>>()

  constructor(keptMax = FILES_KEPT_MAX) {
    this.#keptMax = keptMax
  }

  /** Takes note of a file whose hash is known. */
  note(path: string, stats: BigIntStats, sha256: string): void {
    this.#kept.delete(path)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < this.#keptMax) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(path, { version: versionOf(stats), sha256 })
  }

  /** The hash of an open file. Requests for the same version of a file at once share the work. */
  async of(file: FileHandle, path: string): Promise<string> {
    const stats = await file.stat({ bigint: true })
    const version = versionOf(stats)
    const kept = this.#kept.get(path)
    if (kept?.version === version) return kept.sha256
    const name = `${path} ${version}`
    const running =
      this.#running.get(name) ?? this.#hash(file, path).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    return running
  }

  /** Like `of`, without the hash that is kept. */
  async anew(file: FileHandle, path: string): Promise<string> {
    return this.#hash(file, path)
  }

  async #hash(file: FileHandle, path: string): Promise<string> {
    // Before the first byte: if the file changes meanwhile, the next reader hashes it again.
    const stats = await file.stat({ bigint: true })
    const hash = createHash('sha256')
    const memory = new Uint8Array(PIECE_BYTES)
    let at = 0
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, PIECE_BYTES, at)
      if (bytesRead === 0) break
      hash.update(memory.subarray(0, bytesRead))
      at += bytesRead
    }
    const sha256 = hash.digest('hex')
    this.note(path, stats, sha256)
    return sha256
  }
}

function versionOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}
