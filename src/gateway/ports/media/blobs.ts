import type { ByteStream } from '../byte-stream.ts'

/**
 * Files of jobs: their inputs and results. The caller chooses the key, such as `img_…/out-0`. A key has one to four
 * segments of `a-z`, `0-9`, `_` and `-`, separated by slashes, and at most `BLOB_KEY_CHARS_MAX` characters; every
 * method throws a RangeError for any other key. A blob is never changed in place, and is visible only when it is
 * complete. Blobs on another machine can be out of reach: every method, and the streams of open blobs, then reject with
 * `BlobsUnavailableError`, and a later call may succeed.
 */
export interface Blobs {
  /**
   * Stores all bytes of `source` under `key` and resolves when they are durable. It replaces an older blob of that key
   * in one step. Rejects with `BlobTooLargeError` if there are more than `bytesMax` bytes, and with the source's own
   * error if it fails. It then leaves no new bytes, keeps an older blob of that key, and cancels `source`. Repeating it
   * with the same bytes changes nothing.
   */
  write(key: string, source: ByteStream, limits: { readonly bytesMax: number }): Promise<StoredBlob>

  /**
   * Opens a blob for reading; undefined if it does not exist or was archived. With `range`, the stream has only that
   * part; a part beyond the end is left out. The stream must be read to its end or cancelled.
   */
  read(key: string, range?: BlobRange): Promise<OpenBlob | undefined>

  /**
   * Like `read`, for a blob that must still have the size and the SHA-256 of `file`; otherwise returns what is wrong. A
   * blob that this process neither wrote nor hashed since its file last changed is hashed first.
   */
  readIntact(file: KnownBlob, range?: BlobRange): Promise<OpenBlob | BlobDamage>

  /**
   * Hashes a blob in any case, and compares it with `file`. Undefined if it is intact. Rejects only with
   * `BlobsUnavailableError`.
   */
  damageOf(file: KnownBlob): Promise<BlobDamage | undefined>

  /** Deletes a blob. Repeating it changes nothing. An archived blob stays. */
  remove(key: string): Promise<void>

  /**
   * Moves a blob to the archive, where `read`, `remove` and `list` do not reach it. Repeating it, or archiving an
   * absent blob, changes nothing.
   */
  archive(key: string): Promise<void>

  /**
   * At most `limit` blobs that were last written before the instant `olderThanMs` of the wall clock, in a stable order,
   * starting behind the key `after`. Archived blobs are not listed. A blob that is written or removed during the
   * listing may be listed or not. Every other blob is listed once over all pages.
   */
  list(page: {
    readonly after?: string
    readonly limit: number
    readonly olderThanMs: number
  }): Promise<readonly ListedBlob[]>

  /**
   * Removes the parts of blobs that writes have left which began before an instant of the wall clock and were cut off
   * by the end of their process. No reader sees those parts, but they take space.
   */
  removeUnfinished(beganBeforeMs: number): Promise<void>
}

const BLOB_KEY_CHARS_MAX = 200

/** Lower case only, because some file systems ignore the case of names. */
const KEY = /^[a-z0-9_-]+(?:\/[a-z0-9_-]+){0,3}$/

export function isBlobKey(text: string): boolean {
  return text.length <= BLOB_KEY_CHARS_MAX && KEY.test(text)
}

/** Throws a RangeError for text that is not a key. */
export function checkBlobKey(key: string): void {
  if (!isBlobKey(key))
    throw new RangeError(`Invalid blob key: ${JSON.stringify(key.slice(0, BLOB_KEY_CHARS_MAX))}.`)
}

export type StoredBlob = {
  /** Of all bytes, in lower-case hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/** A blob as it was when it was written. */
export type KnownBlob = StoredBlob & { readonly key: string }

/** An archived blob counts as missing. A blob whose file cannot be opened or read is unreadable. */
export type BlobDamage = 'missing' | 'changed' | 'unreadable'

/** Offsets in bytes; `end` is exclusive. */
export type BlobRange = { readonly start: number; readonly end: number }

export type OpenBlob = {
  /** The size of the whole blob, even if only a part is read. */
  readonly bytes: number
  readonly stream: ByteStream
}

export type ListedBlob = {
  readonly key: string
  readonly bytes: number
  readonly writtenAtMs: number
}

/** The blobs cannot be reached now. The message is for the operator, and has no key and no secret. */
export class BlobsUnavailableError extends Error {
  override readonly name = 'BlobsUnavailableError'
  /** The store answered, and refused. It will refuse a repeat too, until its rights or the settings change. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false }: { readonly isRefusal?: boolean } = {}) {
    super(message)
    this.isRefusal = isRefusal
  }
}

/** This node does not have the blob. Another node may have it on its own disk. */
export class BlobElsewhereError extends BlobsUnavailableError {
  constructor() {
    super('This gateway does not have the file, and gateways without TOLLGATE_S3_BUCKET do not share files.')
  }
}

/** The result of trying a store of blobs on another machine. `detail` is a sentence for the operator. */
export type BlobStoreCheck = {
  /** `public` if strangers can read what it stores. */
  readonly outcome: 'sound' | 'public' | 'refused' | 'unavailable'
  readonly detail: string
}

/** A store of results on another machine. */
export interface ResultStore {
  /** For messages to the operator. */
  readonly name: string
  /** Tries every kind of access. Leaves nothing behind. Never rejects because of the store. */
  check(): Promise<BlobStoreCheck>
}

/** The source had more bytes than the caller allows. */
export class BlobTooLargeError extends Error {
  override readonly name = 'BlobTooLargeError'
  readonly bytesMax: number

  constructor(bytesMax: number) {
    super(`There are more than ${bytesMax} bytes.`)
    this.bytesMax = bytesMax
  }
}
