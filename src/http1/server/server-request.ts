import { textOf, viewOf, wholeRange, type ByteRange } from '../byte-range.ts'
import { streamOf, type ByteStream } from '../byte-stream.ts'
import { HeaderFields } from '../wire/header-fields.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { bodyTooLarge, HttpError } from './http-error.ts'
import { RequestBody, type BodyLimits } from './request-body.ts'
import type { ServerResponse } from './response-writer.ts'

/** A body as text, with its size before it was decoded. A byte order mark is dropped. */
export type BodyText = { readonly text: string; readonly byteLength: number }

/** Sends the response of a request. */
export type Responder = {
  /** The address at the other end of the connection; empty after it is closed. */
  readonly remoteAddress: string
  respond(request: ServerRequest, response: ServerResponse): void
}

/**
 * A request that a client has sent. Its body can be read once, as text, bytes or a stream. Reading rejects with an
 * `HttpError`: `body_too_large` when the declared or the received length exceeds the limit, `body_timeout`,
 * `malformed_request`, `client_disconnected`, or `body_discarded` after the response.
 */
export class ServerRequest {
  readonly head: RequestHead
  /** A range is a small body that arrived with its head. */
  readonly #body: ByteRange | RequestBody
  readonly #responder: Responder
  #isBodyRead = false
  #isDisconnected = false
  #abortController: AbortController | undefined

  constructor(head: RequestHead, body: ByteRange | RequestBody, responder: Responder) {
    this.head = head
    this.#body = body
    this.#responder = responder
  }

  get method(): string {
    return this.head.method
  }

  /** The path as the client sent it. Percent escapes and dot segments are not resolved. */
  get path(): string {
    return this.head.path
  }

  /** The part of the target after the question mark. */
  get query(): string {
    return this.head.query
  }

  /** The value of a header, by its name in lower case; the values of repeated headers are joined by commas. */
  header(name: string): string | null {
    return this.head.fields.get(name)
  }

  /** The address at the other end of the connection; empty if it was closed before this was first read. */
  get remoteAddress(): string {
    return this.#responder.remoteAddress
  }

  /** The length of the body; undefined if it comes in chunks. */
  get declaredBytes(): number | undefined {
    const { framing } = this.head
    return framing === 'chunked' ? undefined : framing
  }

  /** Whether the client disconnected before the end of the response. */
  get clientDisconnected(): boolean {
    return this.#isDisconnected
  }

  /**
   * Aborts when the client disconnects before the end of the response. Created when it is first used, because few
   * requests need it.
   */
  get signal(): AbortSignal {
    if (this.#abortController === undefined) {
      this.#abortController = new AbortController()
      if (this.#isDisconnected) this.#abortController.abort()
    }
    return this.#abortController.signal
  }

  /** Reads the whole body. Rejects with `body_not_utf8` when it is not UTF-8. */
  async text(limits: BodyLimits): Promise<BodyText> {
    const body = this.#takeBody(limits)
    return bodyText(body instanceof RequestBody ? wholeRange(await body.readAll(limits)) : body)
  }

  /** Reads the whole body. */
  async bytes(limits: BodyLimits): Promise<Buffer> {
    const body = this.#takeBody(limits)
    return body instanceof RequestBody ? body.readAll(limits) : viewOf(body)
  }

  /**
   * Reads the body piece by piece. The connection receives little more than what has been read, and time in which
   * nothing is read does not count. Throws when the declared length exceeds the limit.
   */
  stream(limits: BodyLimits): ByteStream {
    const body = this.#takeBody(limits)
    return body instanceof RequestBody ? body.open(limits) : streamOf(viewOf(body))
  }

  /**
   * Sends the response, and ends the reading of the body. Throws, with nothing sent, when a header cannot be sent. Does
   * nothing when the client has disconnected, except that it cancels a streamed body.
   */
  respond(response: ServerResponse): void {
    this.#responder.respond(this, response)
  }

  /** The client disconnected before the end of the response. */
  onDisconnect(): void {
    this.#isDisconnected = true
    this.#abortController?.abort()
  }

  #takeBody({ bytesMax }: BodyLimits): ByteRange | RequestBody {
    if (this.#isBodyRead) throw new Error('The request body has already been read.')
    this.#isBodyRead = true
    const { framing } = this.head
    if (framing !== 'chunked' && framing > bytesMax) throw bodyTooLarge(bytesMax)
    return this.#body
  }
}

/** Throws `body_not_utf8`. */
export function bodyText(range: ByteRange): BodyText {
  const { bytes, start } = range
  const hasMark = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
  const text = textOf(hasMark ? { ...range, start: start + 3 } : range)
  if (text === undefined) throw new HttpError('body_not_utf8', 'The request body is not valid UTF-8.')
  return { text, byteLength: range.end - range.start }
}

/** Stands in for a request that could not be read, so that its refusal can be sent. */
export function unreadRequest(responder: Responder): ServerRequest {
  return new ServerRequest(UNREAD, NO_BODY, responder)
}

const NO_BODY = wholeRange(Buffer.alloc(0))

const UNREAD: RequestHead = {
  method: '',
  path: '',
  query: '',
  fields: HeaderFields.none(),
  framing: 0,
  isHttp10: false,
  isKeepAlive: false,
  expectsContinue: false,
}
