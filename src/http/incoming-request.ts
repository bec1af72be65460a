import type { Transform } from 'node:stream'
import { constants, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { GatewayError } from '../domain/errors.ts'
import type { Reservation } from '../gateway/byte-budgets/byte-budget.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import { wholeRange } from '../http1/byte-range.ts'
import type { ByteStream } from '../http1/byte-stream.ts'
import { GrowingBuffer } from '../http1/growing-buffer.ts'
import { readToEnd } from '../http1/read-all.ts'
import type { BodyLimits } from '../http1/server/request-body.ts'
import { bodyText, type BodyText } from '../http1/server/server-request.ts'
import { DecodedBody } from './decoded-body.ts'

/**
 * A request as handlers see it. The body can be read once. Reading it rejects with an `HttpError`, which becomes the
 * error reply: `request_too_large`, `body_timeout`, or `invalid_json` for text that is not UTF-8.
 */
export interface IncomingRequest {
  readonly method: string
  /** The path as the client sent it, with percent escapes. */
  readonly path: string
  /** The part of the target after the question mark. */
  readonly query: string
  /** The value of a header, by its name in lower case; the values of repeated headers are joined by commas. */
  header(name: string): string | null
  /** The address at the other end of the connection: the client, or a proxy. */
  readonly remoteAddress: string
  /** The length of the body; undefined if it comes in chunks. */
  readonly declaredBytes: number | undefined
  /** Aborts when the client disconnects before the end of its reply. */
  readonly signal: CallerSignal
  readonly clientDisconnected: boolean
  text(limits: BodyLimits): Promise<BodyText>
  bytes(limits: BodyLimits): Promise<Uint8Array>
  /** Holds only a small part of the body at a time. The client is read from while the handler reads. */
  stream(limits: BodyLimits): ByteStream
}

/** RFC 8878 asks decoders of HTTP for windows of up to 8 MB. A larger one takes its size in memory. */
const ZSTD_WINDOW_LOG_MAX = 23

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  deflate: () => createInflate(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
}

/**
 * The request with its body decoded, by its `content-encoding`. Nothing is decoded before the body is read. Limits
 * count decoded bytes. Reading rejects with `unsupported_encoding` for an encoding that is not known, and with
 * `malformed_request` for a body that is not in its encoding.
 */
export function decodedRequest(request: IncomingRequest): IncomingRequest {
  const encoding = request.header('content-encoding')?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? request : new DecodedRequest(request, encoding)
}

class DecodedRequest implements IncomingRequest {
  readonly #request: IncomingRequest
  readonly #encoding: string

  constructor(request: IncomingRequest, encoding: string) {
    this.#request = request
    this.#encoding = encoding
  }

  get method(): string {
    return this.#request.method
  }

  get path(): string {
    return this.#request.path
  }

  get query(): string {
    return this.#request.query
  }

  get remoteAddress(): string {
    return this.#request.remoteAddress
  }

  /** The length of the decoded body is known only at its end. */
  get declaredBytes(): undefined {
    return undefined
  }

  get signal(): CallerSignal {
    return this.#request.signal
  }

  get clientDisconnected(): boolean {
    return this.#request.clientDisconnected
  }

  header(name: string): string | null {
    return this.#request.header(name)
  }

  async text(limits: BodyLimits): Promise<BodyText> {
    return bodyText(wholeRange(await this.bytes(limits)))
  }

  async bytes(limits: BodyLimits): Promise<Buffer> {
    return readToEnd(this.stream(limits))
  }

  stream(limits: BodyLimits): ByteStream {
    const decoder = decoders[this.#encoding]
    if (decoder === undefined) throw unsupported(this.#encoding)
    return new DecodedBody(this.#request.stream(limits), {
      decoder: decoder(),
      encoding: this.#encoding,
      bytesMax: limits.bytesMax,
    })
  }
}

const SHOWN_CHARS_MAX = 40

function unsupported(encoding: string): GatewayError {
  const shown = JSON.stringify(encoding.slice(0, SHOWN_CHARS_MAX))
  return new GatewayError(
    'unsupported_encoding',
    `The content-encoding ${shown} is not supported. Send the body as it is, or with one of ${Object.keys(decoders).join(', ')}.`,
    { param: 'content-encoding', shouldRetry: false },
  )
}

/**
 * The API key in the headers of a request: the first of `Authorization: Bearer`, `x-api-key` and `api-key` that has
 * one. Undefined if none has.
 */
export function presentedKey(request: Pick<IncomingRequest, 'header'>): string | undefined {
  const key =
    bearerKey(request.header('authorization')) || request.header('x-api-key') || request.header('api-key')
  return key === null || key === '' ? undefined : key
}

/** The key of an `Authorization: Bearer` header; null for any other scheme. */
export function bearerKey(header: string | null): string | null {
  if (header === null || !(header.startsWith('Bearer ') || /^bearer /i.test(header))) return null
  return header.slice(7).trim()
}

/** Whether `If-None-Match` contains this ETag, which means that the client already has the body. */
export function isKnown(etag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  return ifNoneMatch.split(',').some(known => {
    const candidate = known.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}

type Source = Pick<IncomingRequest, 'declaredBytes' | 'text' | 'stream' | 'signal'>

/**
 * Reads the whole body as text, after `memory` has room for it: for its declared length before anything is read, and
 * piece by piece without one. The caller releases the memory when its work has ended. Rejects with `overloaded`, and as
 * `IncomingRequest` does.
 */
export function readText(request: Source, limits: BodyLimits, memory: Reservation): Promise<BodyText> {
  const bytes = request.declaredBytes
  if (bytes === undefined) return collectText(request, limits, memory)
  // A body over the limit is refused, however much room there is.
  if (bytes > limits.bytesMax || memory.tryTake(bytes)) return request.text(limits)
  return memory.take(bytes, request.signal).then(() => request.text(limits))
}

async function collectText(request: Source, limits: BodyLimits, memory: Reservation): Promise<BodyText> {
  const body = request.stream(limits)
  const bytes = new GrowingBuffer()
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    if (!memory.tryTake(piece.length)) await memory.take(piece.length, request.signal)
    bytes.append(piece)
  }
  return bodyText(wholeRange(bytes.takeBuffer()))
}

/**
 * The time limits of every upload: in total, without progress, and its slowest average rate. Time in which the gateway
 * does not read does not count.
 */
export const BODY_TIMES = {
  totalMs: 600_000,
  idleMs: 30_000,
  rateMin: { bytesPerS: 1024, afterMs: 30_000 },
} as const satisfies Omit<BodyLimits, 'bytesMax'>
