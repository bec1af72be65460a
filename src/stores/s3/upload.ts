import { createHash } from 'node:crypto'
import { BlobTooLargeError, type StoredBlob } from '../../gateway/ports/media/blobs.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import { plainEtag, type Bucket } from './bucket.ts'
import { escaped, textIn } from './xml.ts'

/** The smallest part that storages accept, because each running write has one in memory. */
const PART_BYTES = 5 * 1024 * 1024
/** For one part, also on a slow line. */
const PART_TIMEOUT_MS = 60_000
/** The storage puts the parts together, or copies an object, before it answers. */
export const WHOLE_TIMEOUT_MS = 120_000

/** An object that was written, and the tag of this version of it. */
export type StoredObject = StoredBlob & { readonly etag: string }

/**
 * Writes all bytes of a stream as one object, which becomes visible in one step. Bytes that fit into one part are one
 * request; more are an upload of several parts. Each request has the SHA-256 of its body, which the storage checks. A
 * write that fails leaves no object and no parts, except if the storage is down.
 */
export async function writeObject(
  bucket: Bucket,
  {
    object,
    source,
    bytesMax,
  }: { readonly object: string; readonly source: ByteStream; readonly bytesMax: number },
): Promise<StoredObject> {
  const filler = new PartFiller(source, bytesMax)
  const first = await filler.next()
  if (filler.isAtEnd) {
    const { etag } = await bucket.call({ method: 'PUT', object, body: first, timeoutMs: PART_TIMEOUT_MS })
    return { ...filler.stored(), etag }
  }
  const upload = await Upload.begin(bucket, object)
  try {
    await upload.add(first)
    while (!filler.isAtEnd) await upload.add(await filler.next())
    const etag = await upload.complete()
    return { ...filler.stored(), etag }
  } catch (error) {
    await upload.abort()
    throw error
  }
}

/** Collects the pieces of a stream into parts. All parts use the same memory. */
class PartFiller {
  readonly #source: ByteStream
  readonly #bytesMax: number
  readonly #hash = createHash('sha256')
  readonly #memory = Buffer.allocUnsafeSlow(PART_BYTES)
  #bytes = 0
  /** The bytes that did not fit into the last part. */
  #rest: Uint8Array | undefined
  isAtEnd = false

  constructor(source: ByteStream, bytesMax: number) {
    this.#source = source
    this.#bytesMax = bytesMax
  }

  /** The next part, valid until the next call. Reads one piece beyond it, so that the last part is known as such. */
  async next(): Promise<Uint8Array> {
    let length = 0
    for (;;) {
      const piece = this.#rest ?? (await this.#read())
      this.#rest = undefined
      if (piece === undefined) {
        this.isAtEnd = true
        break
      }
      const taken = piece.subarray(0, PART_BYTES - length)
      this.#memory.set(taken, length)
      length += taken.length
      if (taken.length === piece.length) continue
      this.#rest = piece.subarray(taken.length)
      break
    }
    return this.#memory.subarray(0, length)
  }

  stored(): StoredBlob {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }

  async #read(): Promise<Uint8Array | undefined> {
    const piece = await this.#source.read()
    this.#bytes += piece?.length ?? 0
    if (this.#bytes > this.#bytesMax) throw new BlobTooLargeError(this.#bytesMax)
    if (piece !== undefined) this.#hash.update(piece)
    return piece
  }
}

/** An upload of several parts. */
class Upload {
  readonly #bucket: Bucket
  readonly #object: string
  readonly #id: string
  readonly #etags: string[] = []

  private constructor(bucket: Bucket, object: string, id: string) {
    this.#bucket = bucket
    this.#object = object
    this.#id = id
  }

  static async begin(bucket: Bucket, object: string): Promise<Upload> {
    const { text } = await bucket.call({ method: 'POST', object, query: { uploads: '' } })
    const id = textIn(text, 'UploadId')
    if (id === undefined) throw new Error('The storage began an upload without an id.')
    return new Upload(bucket, object, id)
  }

  async add(part: Uint8Array): Promise<void> {
    const query = { partNumber: String(this.#etags.length + 1), uploadId: this.#id }
    const { etag } = await this.#bucket.call({
      method: 'PUT',
      object: this.#object,
      query,
      body: part,
      timeoutMs: PART_TIMEOUT_MS,
    })
    this.#etags.push(etag)
  }

  /** Makes the object of the parts. Returns its tag. */
  async complete(): Promise<string> {
    const parts = this.#etags.map(
      (etag, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>&quot;${escaped(etag)}&quot;</ETag></Part>`,
    )
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`
    const { text, etag } = await this.#bucket.call({
      method: 'POST',
      object: this.#object,
      query: { uploadId: this.#id },
      headers: { 'content-type': 'application/xml' },
      body: new TextEncoder().encode(body),
      timeoutMs: WHOLE_TIMEOUT_MS,
    })
    return plainEtag(textIn(text, 'ETag') ?? etag)
  }

  /** Removes the parts. If that fails too, a later sweep removes them. */
  async abort(): Promise<void> {
    await this.#bucket
      .call({ method: 'DELETE', object: this.#object, query: { uploadId: this.#id } })
      .catch(() => undefined)
  }
}
