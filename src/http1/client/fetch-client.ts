import { HeaderFields } from '../wire/header-fields.ts'
import { gather } from '../../providers/gather.ts'
import type { AnswerReceiver, HttpClient, HttpExchange, PieceReceiver } from './http-client.ts'
import { httpFailure } from './http-failure.ts'
import type { HttpRequest } from './http-request.ts'
import type { ResponseHead } from './response-head.ts'

/** What fetch decompresses by itself, so that neither encoding nor length are what the headers say. */
const DECOMPRESSED = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd'])

const TRAVEL = new Set(['connection', 'content-length', 'transfer-encoding'])

/** The client by way of `fetch`, which alone knows the proxies that HTTP_PROXY and HTTPS_PROXY name. */
export function fetchClient(): HttpClient {
  return { begin: (request, body) => new FetchExchange(request, body), close: () => {} }
}

class FetchExchange implements HttpExchange {
  readonly #controller = new AbortController()
  readonly #request: HttpRequest
  readonly #body: string
  #head: ResponseHead | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined

  constructor(request: HttpRequest, body: string) {
    this.#request = request
    this.#body = body
  }

  async head(): Promise<ResponseHead> {
    const response = await fetch(this.#request.url, {
      method: 'POST',
      headers: this.#request.headers,
      body: this.#body,
      // A redirect is an answer like any other: followed, it would carry the key and the request to somebody else.
      redirect: 'manual',
      signal: this.#controller.signal,
      // Off: Bun's own idle limit of five minutes, which a longer limit of ours would never reach.
      timeout: false,
    })
    this.#reader = response.body?.getReader()
    return (this.#head = headOf(response))
  }

  read(receiver: PieceReceiver): void {
    void this.#next().then(
      piece => receiver.onPiece(piece),
      (error: unknown) => receiver.onFailed(error),
    )
  }

  answer(bytesMax: number, receiver: AnswerReceiver): void {
    void this.#tell(bytesMax, receiver)
  }

  cut(): void {
    this.#controller.abort()
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      if (this.#controller.signal.aborted) throw httpFailure('ABORT_ERR')
      const read = await this.#reader?.read()
      if (read === undefined || read.done) return undefined
      if (read.value.length > 0) return read.value
    }
  }

  async #tell(bytesMax: number, receiver: AnswerReceiver): Promise<void> {
    let head: ResponseHead
    let body: Buffer | undefined
    try {
      head = this.#head ?? (await this.head())
      body = await this.#whole(head, bytesMax)
    } catch (error) {
      receiver.onFailed(error)
      return
    }
    if (body === undefined) {
      this.cut()
      receiver.onTooLarge()
    } else receiver.onAnswer(head, body, 0, body.length)
  }

  /** Undefined where it is longer than `bytesMax`. */
  async #whole({ framing }: ResponseHead, bytesMax: number): Promise<Buffer | undefined> {
    if (typeof framing === 'number' && framing > bytesMax) return undefined
    return gather(() => this.#next(), bytesMax)
  }
}

function headOf(response: Response): ResponseHead {
  const encoding = response.headers.get('content-encoding')?.toLowerCase() ?? ''
  const isDecompressed = DECOMPRESSED.has(encoding)
  const lines: string[] = []
  for (const [name, value] of response.headers) {
    // fetch has seen to how the body travels. What it makes of several values is one, with commas between.
    const isOver = TRAVEL.has(name) || (isDecompressed && name === 'content-encoding')
    if (!isOver) lines.push(`${name}: ${value}`)
  }
  const fields = HeaderFields.read(Buffer.from([...lines, '', ''].join('\r\n'), 'latin1'), 0)
  if (typeof fields === 'string') throw httpFailure('Malformed_HTTP_Response')
  const length = isDecompressed ? null : response.headers.get('content-length')
  const framing = length === null ? 'until_close' : Number(length)
  return { status: response.status, fields, framing, isKept: false }
}
