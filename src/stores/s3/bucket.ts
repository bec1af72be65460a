import { BlobsUnavailableError } from '../../gateway/ports/media/blobs.ts'
import { pause, type Clock } from '../../gateway/ports/clock.ts'
import { ClientError } from '../../http1/client/client-error.ts'
import type { HttpClient, HttpResponse } from '../../http1/client/http-client.ts'
import { httpRequest } from '../../http1/client/http-request.ts'
import { pathOf, queryOf, sha256Of, signedHeaders } from './sign.ts'
import { textIn } from './xml.ts'

/** The place of the bucket, and the keys for it. */
export type BucketSettings = {
  readonly bucket: string
  readonly region: string
  /** Undefined for AWS. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket is in the path of URLs, rather than in the host. */
  readonly isPathStyle: boolean
  /** Before the name of every object; undefined for none. Without a slash at its end. */
  readonly prefix: string | undefined
}

export type BucketPorts = { readonly http: Pick<HttpClient, 'send'>; readonly clock: Clock }

/** A request about one object of the bucket, or about the bucket itself. */
export type BucketRequest = {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Without the prefix. Empty for the bucket. */
  readonly object: string
  readonly query?: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** For the whole answer of a call, or for the head of an opened one. */
  readonly timeoutMs?: number
  /** A request without a signature, as a stranger would send it. */
  readonly isAnonymous?: boolean
}

/** The answer to a call. The bodies of other answers than objects are small. */
export type BucketReply = { readonly status: number; readonly etag: string; readonly text: string }

/** For an answer without the content of an object. */
const TIMEOUT_MS = 10_000
/** A page of 1,000 objects has less than a megabyte. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024
/** A client waits for most calls. A longer outage is left to the next pass of the reconciler. */
const RETRY_AFTER_MS = [200, 1000]

/** Statuses that a later request may not get. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/**
 * The objects of a bucket of an S3 storage. Each request has a time limit. A request that fails for now is sent again a
 * few times, except after a time limit: a storage that hangs would make its callers wait for several. All requests are
 * safe to repeat. Rejects with `BlobsUnavailableError` for every answer that the caller does not expect: a bucket that
 * does not exist or refuses the keys must not look like an object that is missing.
 */
export class Bucket {
  readonly clock: Clock
  readonly #http: Pick<HttpClient, 'send'>
  readonly #settings: BucketSettings
  readonly #base: URL

  constructor(settings: BucketSettings, { http, clock }: BucketPorts) {
    this.#settings = settings
    this.#http = http
    this.clock = clock
    this.#base = baseOf(settings)
  }

  /** The bucket and the prefix, as commands of other programs write them. */
  get name(): string {
    return `s3://${this.#settings.bucket}${this.#settings.prefix === undefined ? '' : `/${this.#settings.prefix}`}`
  }

  /** The name of an object within the bucket. */
  keyOf(object: string): string {
    return this.#settings.prefix === undefined ? object : `${this.#settings.prefix}/${object}`
  }

  /** The object as the source of a copy. */
  sourceOf(object: string): string {
    return pathOf(`/${this.#settings.bucket}/${this.keyOf(object)}`)
  }

  /** Sends a request and reads its answer. `expected` are the answers that the caller handles. */
  async call(request: BucketRequest, expected: readonly Expected[] = []): Promise<BucketReply> {
    const { timeoutMs = TIMEOUT_MS } = request
    return this.#retried(request, async () => {
      const response = await this.#send(request, { timeoutMs })
      return readReply(response, expected)
    })
  }

  /**
   * Like `call`, for an object whose content the caller reads. Resolves when the head of the answer has come. The time
   * limit is for the head. `signal` ends the reading.
   */
  async open(
    request: BucketRequest,
    {
      expected,
      controller,
    }: { readonly expected: readonly Expected[]; readonly controller: AbortController },
  ): Promise<{ readonly response: HttpResponse } | { readonly reply: BucketReply }> {
    const { timeoutMs = TIMEOUT_MS } = request
    return this.#retried(request, async () => {
      let isLate = false
      const stop = this.clock.after(timeoutMs, () => {
        isLate = true
        controller.abort()
      })
      try {
        const response = await this.#send(request, { signal: controller.signal })
        if (response.status === 200 || response.status === 206) return { response }
        return { reply: await readReply(response, expected) }
      } catch (error) {
        throw isLate ? noAnswer() : error
      } finally {
        stop()
      }
    })
  }

  async #retried<Result>(request: BucketRequest, send: () => Promise<Result>): Promise<Result> {
    const what = `${request.method} ${request.object === '' ? 'of the bucket' : 'of an object'}`
    for (const delayMs of [...RETRY_AFTER_MS, undefined]) {
      try {
        return await send()
      } catch (error) {
        const failure = failureOf(error)
        if (failure === undefined) throw error
        if (delayMs === undefined || !failure.isPassing)
          throw new BlobsUnavailableError(`${what} in ${this.name} failed: ${failure.problem}.`, failure)
      }
      await pause(this.clock, delayMs)
    }
    throw new Error('The last try neither returned nor threw.')
  }

  async #send(
    { method, object, query = {}, headers = {}, body, isAnonymous = false }: BucketRequest,
    limits: { readonly timeoutMs: number } | { readonly signal: AbortSignal },
  ): Promise<HttpResponse> {
    const url = new URL(this.#base)
    if (object !== '') url.pathname += pathOf(this.keyOf(object))
    else if (this.#settings.isPathStyle) url.pathname = url.pathname.replace(/\/$/, '')
    url.search = queryOf(query)
    const unsigned = { method, url, headers, bodySha256: sha256Of(body ?? '') }
    const sent = isAnonymous ? headers : signedHeaders(unsigned, this.#settings, this.clock.now())
    const request = httpRequest({
      method,
      url,
      headers: new Headers({ ...sent, 'accept-encoding': 'identity', 'user-agent': 'tollgate' }),
    })
    return this.#http.send(request, { ...(body === undefined ? {} : { body }), ...limits })
  }
}

/** An answer other than success that a caller handles: its status, and the code in its body. */
export type Expected = { readonly status: number; readonly code: string }

export const NO_OBJECT: Expected = { status: 404, code: 'NoSuchKey' }

/** A conditional write whose condition does not hold, or that ran at the same time as another one. */
export const CONDITION_FAILED: readonly Expected[] = [
  { status: 412, code: 'PreconditionFailed' },
  { status: 409, code: 'ConditionalRequestConflict' },
]

/** The answer was not one that the caller expects. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, code: string) {
    super(`status ${status}${code === '' ? '' : ` (${code})`}`)
    this.status = status
  }
}

/**
 * Reads an answer, and throws for one that is neither a success nor expected. A copy and the end of an upload can fail
 * after the status 200 was sent; the body then is an error. The text of an error is not shown: it can quote the request
 * with the id of the key.
 */
async function readReply(response: HttpResponse, expected: readonly Expected[]): Promise<BucketReply> {
  const { status } = response
  const etag = plainEtag(response.headers.get('etag') ?? '')
  const text = (await response.readText(REPLY_BYTES_MAX)) ?? ''
  const code = text.includes('<Error') ? (textIn(text, 'Code') ?? '') : ''
  const isSuccess = status >= 200 && status < 300 && !text.includes('<Error')
  if (isSuccess || expected.some(one => one.status === status && one.code === code))
    return { status, etag, text }
  throw new Refused(status < 300 ? 500 : status, /^\w{1,64}$/.test(code) ? code : '')
}

/** Storages write the same tag with quotes, without them, or as a weak tag. */
export function plainEtag(text: string): string {
  return text.replace(/^(?:W\/)?"(.*)"$/, '$1')
}

type Failure = { readonly problem: string; readonly isPassing: boolean; readonly isRefusal?: boolean }

/** Why a request failed, as the end of a sentence for the operator. Undefined for a fault of the gateway. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Refused) {
    const isPassing = PASSING.has(error.status)
    return { problem: error.message, isPassing, isRefusal: !isPassing }
  }
  // Failures of `fetch`, which is used behind a proxy, have the code of the runtime.
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code !== 'string') return undefined
  const isLate = LATE.has(code)
  return { problem: isLate ? 'no answer in time' : code, isPassing: !isLate && code !== 'ABORT_ERR' }
}

const LATE: ReadonlySet<string> = new Set(['RESPONSE_TIMEOUT', 'CONNECT_TIMEOUT'])

function noAnswer(): ClientError {
  return new ClientError('RESPONSE_TIMEOUT')
}

/** The URL of the bucket, with a slash at its end. */
function baseOf({ bucket, region, endpoint, isPathStyle }: BucketSettings): URL {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${isPathStyle ? `${bucket}/` : ''}`
  return url
}
