import type { Bytes } from '../../domain/bytes.ts'
import { BlobsUnavailableError, type BlobRange } from '../../gateway/ports/media/blobs.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { failureOf, NO_OBJECT, plainEtag, type Bucket, type Expected } from './bucket.ts'

/** How long the storage may send nothing while an object is read. */
const IDLE_MS = 30_000
/** How often the reading of one object is continued after its connection broke. */
const RESUMES_MAX = 3

/** The object was replaced while it was read. */
const REPLACED: Expected = { status: 412, code: 'PreconditionFailed' }
/** The object has no byte in the range. */
const NO_RANGE: Expected = { status: 416, code: 'InvalidRange' }

/** An open object. `etag` names this version of it. */
export type OpenObject = { readonly etag: string; readonly bytes: number; readonly stream: ByteStream }

/**
 * Opens an object, or the part of it in `range`. Undefined if it does not exist. With `etag`, it must still be that
 * version of the object; another one counts as none.
 */
export async function openObject(
  bucket: Bucket,
  { object, range, etag }: { readonly object: string; readonly range?: BlobRange; readonly etag?: string },
): Promise<OpenObject | undefined> {
  const start = Math.max(0, range?.start ?? 0)
  const end = range?.end ?? Infinity
  if (start < end) {
    const part = await get(bucket, { object, range: range && { start, end }, etag })
    if (part === 'absent') return undefined
    if (part !== 'no range')
      return { etag: part.etag, bytes: part.bytes, stream: new ObjectStream(bucket, object, part) }
  }
  // The part has no byte, and the size of the object is still needed.
  const whole = await get(bucket, { object, range: undefined, etag })
  if (typeof whole === 'string') return undefined
  whole.stop()
  return { etag: whole.etag, bytes: whole.bytes, stream: NOTHING }
}

const NOTHING: ByteStream = { read: async () => undefined, cancel: () => undefined }

type Part = {
  readonly response: HttpResponse
  readonly etag: string
  /** Of the whole object. */
  readonly bytes: number
  readonly start: number
  readonly end: number
  /** Ends the reading of the answer. */
  readonly stop: () => void
}

async function get(
  bucket: Bucket,
  asked: {
    readonly object: string
    readonly range: BlobRange | undefined
    readonly etag: string | undefined
  },
): Promise<Part | 'absent' | 'no range'> {
  const { object, range, etag } = asked
  const controller = new AbortController()
  const headers = {
    ...(range === undefined ? {} : { range: rangeOf(range) }),
    ...(etag === undefined ? {} : { 'if-match': `"${etag}"` }),
  }
  const expected = [NO_OBJECT, REPLACED, NO_RANGE]
  const opened = await bucket.open({ method: 'GET', object, headers }, { expected, controller })
  if ('reply' in opened) return opened.reply.status === NO_RANGE.status ? 'no range' : 'absent'
  const { response } = opened
  const part = partOf(response, range)
  const stop = () => controller.abort()
  if (part !== undefined)
    return { ...part, response, stop, etag: plainEtag(response.headers.get('etag') ?? '') }
  stop()
  throw new BlobsUnavailableError(`The storage of ${bucket.name} sent another part than it was asked for.`)
}

/** HTTP counts the last byte in. */
function rangeOf({ start, end }: BlobRange): string {
  return `bytes=${start}-${end === Infinity ? '' : end - 1}`
}

/** Undefined if the answer is not the part that was asked for. */
function partOf(
  { status, headers, contentLength }: HttpResponse,
  range: BlobRange | undefined,
): Pick<Part, 'bytes' | 'start' | 'end'> | undefined {
  if (contentLength === undefined) return undefined
  if (range === undefined)
    return status === 200 ? { bytes: contentLength, start: 0, end: contentLength } : undefined
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  const part = { bytes: Number(total), start: Number(first), end: Number(last) + 1 }
  const isAsked =
    status === 206 &&
    part.start === range.start &&
    part.end === Math.min(range.end, part.bytes) &&
    part.end - part.start === contentLength
  return isAsked ? part : undefined
}

/**
 * The bytes of an object as the storage sends them. If the connection breaks or the storage is silent for too long, it
 * asks for the rest of the same version of the object.
 */
class ObjectStream implements ByteStream {
  readonly #bucket: Bucket
  readonly #object: string
  #part: Part
  #at: number
  #resumes = 0
  #isOver = false

  constructor(bucket: Bucket, object: string, part: Part) {
    this.#bucket = bucket
    this.#object = object
    this.#part = part
    this.#at = part.start
  }

  async read(): Promise<Bytes | undefined> {
    try {
      while (!this.#isOver) {
        const piece = await this.#next()
        if (this.#isOver) break
        if (piece === 'broken') continue
        if (piece !== undefined) {
          this.#at += piece.length
          return piece
        }
        this.#isOver = true
      }
      return undefined
    } catch (error) {
      if (this.#isOver) return undefined
      this.cancel()
      throw error
    }
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#part.stop()
  }

  async #next(): Promise<Bytes | undefined | 'broken'> {
    const stopWaiting = this.#bucket.clock.after(IDLE_MS, this.#part.stop)
    try {
      const piece = await this.#part.response.read()
      if (piece !== undefined || this.#at === this.#part.end) return piece
    } catch (error) {
      if (failureOf(error) === undefined) throw error
    } finally {
      stopWaiting()
    }
    if (!this.#isOver) await this.#resume()
    return 'broken'
  }

  async #resume(): Promise<void> {
    this.#part.stop()
    this.#resumes += 1
    const { end, etag } = this.#part
    if (this.#resumes > RESUMES_MAX) throw this.#cut('its connection broke several times')
    const rest = await get(this.#bucket, { object: this.#object, range: { start: this.#at, end }, etag })
    if (typeof rest === 'string') throw this.#cut('it was replaced or removed meanwhile')
    this.#part = rest
    if (this.#isOver) rest.stop()
  }

  #cut(problem: string): BlobsUnavailableError {
    return new BlobsUnavailableError(`The reading of an object in ${this.#bucket.name} was cut: ${problem}.`)
  }
}
