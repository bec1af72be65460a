import { constants, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { Transform } from 'node:stream'
import { GatewayError } from '../domain/errors.ts'
import { wholeRange } from '../http1/byte-range.ts'
import type { ByteStream } from '../http1/byte-stream.ts'
import { GrowingBuffer } from '../http1/growing-buffer.ts'
import { bodyText, type BodyText } from '../http1/server/server-request.ts'
import type { BodyLimits } from '../http1/server/request-body.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import { DecodedBody } from './decoded-body.ts'
import type { IncomingRequest } from './incoming-request.ts'

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
    const body = this.stream(limits)
    const bytes = new GrowingBuffer()
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) bytes.append(piece)
    return Buffer.from(bytes.take().buffer)
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
