/** Objects whose hash is kept, at about 300 bytes each. */
const OBJECTS_KEPT_MAX = 20_000

type Hashed = { readonly etag: string; readonly sha256: string }

/**
 * The SHA-256 of objects, kept in memory together with the tags of their versions. A storage gives new content a new
 * tag.
 */
export class ObjectHashes {
  readonly #keptMax: number
  readonly #kept = new Map<string, Hashed>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(keptMax = OBJECTS_KEPT_MAX) {
    this.#keptMax = keptMax
  }

  /** Takes note of an object whose hash is known. Without a tag, it is not kept. */
  note(object: string, hashed: Hashed): void {
    this.#kept.delete(object)
    if (hashed.etag === '') return
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < this.#keptMax) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(object, hashed)
  }

  /** The hash of this version of an object, if it is known. */
  find(object: string, etag: string): string | undefined {
    const kept = this.#kept.get(object)
    return kept?.etag === etag ? kept.sha256 : undefined
  }

  /**
   * Keeps the hash of a version of an object. `hash` computes it, and gives undefined if that version is gone. Calls
   * for the same version at once share the work.
   */
  async hashOnce(object: string, etag: string, hash: () => Promise<string | undefined>): Promise<void> {
    const name = `${object} ${etag}`
    const running = this.#running.get(name) ?? this.#hash(object, etag, hash)
    this.#running.set(name, running)
    try {
      await running
    } finally {
      if (this.#running.get(name) === running) this.#running.delete(name)
    }
  }

  async #hash(object: string, etag: string, hash: () => Promise<string | undefined>): Promise<void> {
    const sha256 = await hash()
    if (sha256 !== undefined) this.note(object, { etag, sha256 })
  }
}
