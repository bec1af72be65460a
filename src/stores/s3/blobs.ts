import { createHash } from 'node:crypto'
import {
  BlobsUnavailableError,
  checkBlobKey,
  isBlobKey,
  type BlobDamage,
  type BlobRange,
  type Blobs,
  type KnownBlob,
  type ListedBlob,
  type OpenBlob,
  type StoredBlob,
} from '../../gateway/ports/media/blobs.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import { NO_OBJECT, type Bucket } from './bucket.ts'
import { ObjectHashes } from './object-hashes.ts'
import { openObject } from './object-stream.ts'
import { WHOLE_TIMEOUT_MS, writeObject } from './upload.ts'
import { elementsIn, textIn } from './xml.ts'

const LIVE = 'live/'
const ARCHIVE = 'archive/'

/** The most that a storage lists at a time. */
const PAGE_MAX = 1000

/** A read begins again if the object was replaced since it was hashed. */
const VERSIONS_MAX = 3

/** Not every storage lists uploads or knows one that has ended. */
const NO_LISTS = { status: 501, code: 'NotImplemented' }
const NO_UPLOAD = { status: 404, code: 'NoSuchUpload' }

/**
 * Blobs in a bucket of an S3 storage, which several nodes may share. The live blob `img_…/out-0` is the object
 * `live/img_….out-0`: storages that keep objects as files cannot have both `img_…` and `img_…/out-0`.
 */
export class S3Blobs implements Blobs {
  readonly #bucket: Bucket
  readonly #hashes = new ObjectHashes()

  constructor(bucket: Bucket) {
    this.#bucket = bucket
  }

  async write(
    key: string,
    source: ByteStream,
    { bytesMax }: { readonly bytesMax: number },
  ): Promise<StoredBlob> {
    try {
      const object = objectOf(LIVE, key)
      const { etag, sha256, bytes } = await writeObject(this.#bucket, { object, source, bytesMax })
      this.#hashes.note(object, { etag, sha256 })
      return { sha256, bytes }
    } catch (error) {
      source.cancel()
      throw error
    }
  }

  async read(key: string, range?: BlobRange): Promise<OpenBlob | undefined> {
    return openObject(this.#bucket, { object: objectOf(LIVE, key), ...(range !== undefined && { range }) })
  }

  async readIntact(known: KnownBlob, range?: BlobRange): Promise<OpenBlob | BlobDamage> {
    const object = objectOf(LIVE, known.key)
    for (let tries = 0; tries < VERSIONS_MAX; tries += 1) {
      const opened = await openObject(this.#bucket, { object, ...(range !== undefined && { range }) })
      if (opened === undefined) return 'missing'
      const { etag, bytes, stream } = opened
      const sha256 = this.#hashes.find(object, etag)
      if (bytes === known.bytes && sha256 === known.sha256) return { bytes, stream }
      stream.cancel()
      if (bytes !== known.bytes || sha256 !== undefined) return 'changed'
      // Hashing takes long, so it reads the object once for all readers that wait for it.
      await this.#hashes.hashOnce(object, etag, () => this.#hash(object, etag))
    }
    throw new BlobsUnavailableError(`An object in ${this.#bucket.name} changes while it is read.`)
  }

  async damageOf(known: KnownBlob): Promise<BlobDamage | undefined> {
    if (!isBlobKey(known.key)) return 'missing'
    const object = objectOf(LIVE, known.key)
    const opened = await openObject(this.#bucket, { object })
    if (opened === undefined) return 'missing'
    const { etag, bytes, stream } = opened
    if (bytes !== known.bytes) {
      stream.cancel()
      return 'changed'
    }
    const sha256 = await hashOf(stream)
    this.#hashes.note(object, { etag, sha256 })
    return sha256 === known.sha256 ? undefined : 'changed'
  }

  async remove(key: string): Promise<void> {
    await this.#bucket.call({ method: 'DELETE', object: objectOf(LIVE, key) }, [NO_OBJECT])
  }

  async archive(key: string): Promise<void> {
    const from = objectOf(LIVE, key)
    const { status } = await this.#bucket.call(
      {
        method: 'PUT',
        object: objectOf(ARCHIVE, key),
        headers: { 'x-amz-copy-source': this.#bucket.sourceOf(from) },
        timeoutMs: WHOLE_TIMEOUT_MS,
      },
      [NO_OBJECT],
    )
    if (status !== NO_OBJECT.status) await this.remove(key)
  }

  async list(page: {
    readonly after?: string
    readonly limit: number
    readonly olderThanMs: number
  }): Promise<readonly ListedBlob[]> {
    const { after, limit, olderThanMs } = page
    const listed: ListedBlob[] = []
    for (let last = after === undefined ? LIVE : objectOf(LIVE, after); listed.length < limit;) {
      const { objects, isLast } = await this.#listPage(last)
      for (const { object, bytes, writtenAtMs } of objects) {
        const key = keyOf(object)
        if (listed.length < limit && isBlobKey(key) && writtenAtMs < olderThanMs)
          listed.push({ key, bytes, writtenAtMs })
      }
      const next = objects.at(-1)?.object
      if (isLast || next === undefined) break
      last = next
    }
    return listed
  }

  async removeUnfinished(beganBeforeMs: number): Promise<void> {
    const prefix = this.#bucket.keyOf(LIVE)
    const query = { uploads: '', prefix, 'encoding-type': 'url' }
    const { text } = await this.#bucket.call({ method: 'GET', object: '', query }, [NO_LISTS])
    for (const upload of elementsIn(text, 'Upload')) {
      const object = this.#objectIn(upload)
      const uploadId = textIn(upload, 'UploadId')
      const began = Date.parse(textIn(upload, 'Initiated') ?? '')
      if (object !== undefined && uploadId !== undefined && began < beganBeforeMs)
        await this.#bucket.call({ method: 'DELETE', object, query: { uploadId } }, [NO_UPLOAD])
    }
  }

  /** One page behind the object `last`, in the order of the names. */
  async #listPage(last: string): Promise<{
    readonly objects: readonly {
      readonly object: string
      readonly bytes: number
      readonly writtenAtMs: number
    }[]
    readonly isLast: boolean
  }> {
    const { text } = await this.#bucket.call({
      method: 'GET',
      object: '',
      query: {
        'list-type': '2',
        'encoding-type': 'url',
        'max-keys': String(PAGE_MAX),
        prefix: this.#bucket.keyOf(LIVE),
        'start-after': this.#bucket.keyOf(last),
      },
    })
    const objects = elementsIn(text, 'Contents').flatMap(content => {
      const object = this.#objectIn(content)
      // A storage counts the age of an upload of several parts from its beginning, in seconds.
      const writtenAtMs = Date.parse(textIn(content, 'LastModified') ?? '')
      const bytes = Number(textIn(content, 'Size'))
      return object === undefined ? [] : [{ object, bytes, writtenAtMs }]
    })
    return { objects, isLast: textIn(text, 'IsTruncated') !== 'true' }
  }

  /** The name of an object of a list, without the prefix. */
  #objectIn(element: string): string | undefined {
    const name = decodeURIComponent((textIn(element, 'Key') ?? '').replaceAll('+', ' '))
    const prefix = this.#bucket.keyOf('')
    return name.startsWith(prefix + LIVE) ? name.slice(prefix.length) : undefined
  }

  /** Hashes one version of an object. Undefined if it was replaced or removed meanwhile. */
  async #hash(object: string, etag: string): Promise<string | undefined> {
    const opened = await openObject(this.#bucket, { object, etag })
    return opened === undefined ? undefined : hashOf(opened.stream)
  }
}

/** Keys have no dots, so that no two keys have the same object. The order of objects is that of their keys. */
function objectOf(folder: string, key: string): string {
  checkBlobKey(key)
  return folder + key.replaceAll('/', '.')
}

function keyOf(object: string): string {
  return object.slice(LIVE.length).replaceAll('.', '/')
}

async function hashOf(stream: ByteStream): Promise<string> {
  const hash = createHash('sha256')
  for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) hash.update(piece)
  return hash.digest('hex')
}
