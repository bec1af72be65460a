import { wholeRange, type ByteRange } from '../byte-range.ts'
import { readAll } from '../read-all.ts'
import type { ResponseBody } from './exchange.ts'
import type { Timers } from '../timers.ts'
import { HeaderFields } from '../wire/header-fields.ts'
import { ClientResponse } from './client-response.ts'
import type { AbortSignalLike, HttpClient, HttpResponse, SendOptions } from './http-client.ts'
import { clientError, type ClientError } from './client-error.ts'
import { FRAMING_HEADERS, type HttpRequest } from './http-request.ts'
import { isStreamBody, type OutgoingBody } from './outgoing-body.ts'
import { RequestLimits, type LimitedRequest } from './request-limits.ts'
import type { ResponseHead } from './response-head.ts'

/** The encodings that fetch decodes by itself: the headers then give the encoding and the length before that. */
const DECODED: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd'])

/**
 * The client on `fetch`, which supports the proxies of HTTP_PROXY and HTTPS_PROXY. The proxy resolves
 * names and connects, so that `connectTimeoutMs` has no effect, and a request with a pinned address is refused.
 */
export function fetchClient(timers: Timers): HttpClient {
  return {
    async send(request, options = {}) {
      const { body } = options
      const cancellation = new FetchCancellation(timers, options.signal)
      try {
        if (request.pinnedAddress !== undefined) throw clientError('ADDRESS_NEEDS_DIRECT_CONNECTION')
        return await sendByFetch(request, options, cancellation)
      } catch (error) {
        cancellation.limits.stop()
        if (isStreamBody(body)) body.stream.cancel()
        throw cancellation.failure ?? error
      }
    },
    close: () => {},
  }
}

async function sendByFetch(
  { method, url, headers, reusesConnection }: HttpRequest,
  { body, timeoutMs, onSent }: SendOptions,
  cancellation: FetchCancellation,
): Promise<HttpResponse> {
  cancellation.limits.start(timeoutMs)
  // fetch does not report when it has connected.
  onSent?.()
  const response = await fetch(url, {
    method,
    headers: isStreamBody(body) ? withLength(headers, body.length) : headers,
    body: fetchBody(body),
    // A redirect is a response like any other: followed, it would take the key and the request to another server.
    redirect: 'manual',
    signal: cancellation.controller.signal,
    keepalive: reusesConnection,
    // Bun's own idle limit of five minutes would end longer limits early.
    timeout: false,
  })
  return new ClientResponse(headOf(response), new FetchBody(response, cancellation))
}

function withLength(headers: Headers, length: number | undefined): Headers {
  if (length === undefined) return headers
  const framed = new Headers(headers)
  framed.set('content-length', String(length))
  return framed
}

function fetchBody(body: OutgoingBody | undefined): BodyInit | null {
  if (body === undefined) return null
  if (!isStreamBody(body)) return body as BodyInit
  const { stream, length } = body
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await stream.read()
        sent += piece?.length ?? 0
        if (length !== undefined && (piece === undefined ? sent < length : sent > length)) {
          controller.error(clientError('REQUEST_BODY_LENGTH'))
        } else if (piece === undefined) controller.close()
        // The bytes of a stream are valid only until its next read.
        else controller.enqueue(new Uint8Array(piece))
      },
      cancel: () => stream.cancel(),
    },
    { highWaterMark: 0 },
  )
}

/** Ends a fetch early, and knows the reason. */
class FetchCancellation implements LimitedRequest {
  readonly controller = new AbortController()
  readonly limits: RequestLimits
  failure: ClientError | undefined

  constructor(timers: Timers, signal: AbortSignalLike | undefined) {
    this.limits = new RequestLimits(timers, signal, this)
  }

  cut(failure: ClientError): void {
    this.failure ??= failure
    this.limits.stop()
    this.controller.abort()
  }
}

class FetchBody implements ResponseBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  readonly #cancellation: FetchCancellation
  #isEnded = false

  constructor(response: Response, cancellation: FetchCancellation) {
    this.#reader = response.body?.getReader()
    this.#cancellation = cancellation
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      for (;;) {
        if (this.#cancellation.failure !== undefined) throw this.#cancellation.failure
        const read = this.#isEnded ? undefined : await this.#reader?.read()
        if (read === undefined || read.done) return this.#end()
        if (read.value.length > 0) return read.value
      }
    } catch (error) {
      this.#cancellation.limits.stop()
      throw this.#cancellation.failure ?? error
    }
  }

  async readWhole(bytesMax: number): Promise<ByteRange> {
    const bytes = await readAll(this, bytesMax)
    if (bytes !== undefined) return wholeRange(bytes)
    this.cancel()
    throw clientError('RESPONSE_TOO_LARGE')
  }

  cancel(): void {
    if (!this.#isEnded) this.#cancellation.cut(clientError('ABORT_ERR'))
  }

  #end(): undefined {
    this.#isEnded = true
    this.#cancellation.limits.stop()
  }
}

function headOf(response: Response): ResponseHead {
  const encoding = response.headers.get('content-encoding')?.toLowerCase() ?? ''
  const isDecoded = DECODED.has(encoding)
  const lines: string[] = []
  for (const [name, value] of response.headers) {
    // fetch has removed the framing already, and joined repeated headers with commas.
    const isGone = FRAMING_HEADERS.has(name) || (isDecoded && name === 'content-encoding')
    if (!isGone) lines.push(`${name}: ${value}`)
  }
  const fields = HeaderFields.read(Buffer.from([...lines, '', ''].join('\r\n'), 'latin1'), 0)
  if (typeof fields === 'string') throw clientError('Malformed_HTTP_Response')
  const length = isDecoded || response.body === null ? null : response.headers.get('content-length')
  const framing = length === null ? 'until_close' : Number(length)
  return { status: response.status, fields, framing, isReusable: false }
}
