import type { HttpClient, HttpExchange } from './http-client.ts'
import { httpFailure } from './http-failure.ts'
import type { HttpRequest } from './http-request.ts'
import type { ResponseHead } from './response-head.ts'

/** What fetch decompresses by itself, so that neither encoding nor length are what the headers say. */
const DECOMPRESSED = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd'])

/** The client by way of `fetch`, which alone knows the proxies that HTTP_PROXY and HTTPS_PROXY name. */
export function fetchClient(): HttpClient {
  return { begin: (request, body) => new FetchExchange(request, body), close: () => {} }
}

class FetchExchange implements HttpExchange {
  readonly #controller = new AbortController()
  readonly #request: HttpRequest
  readonly #body: Uint8Array<ArrayBuffer>
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined

  constructor(request: HttpRequest, body: Uint8Array<ArrayBuffer>) {
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
    return headOf(response)
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      if (this.#controller.signal.aborted) throw httpFailure('ABORT_ERR')
      const read = await this.#reader?.read()
      if (read === undefined || read.done) return undefined
      if (read.value.length > 0) return read.value
    }
  }

  async whole(bytesMax: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const parts: Uint8Array<ArrayBuffer>[] = []
    let length = 0
    for (let part = await this.read(); part !== undefined; part = await this.read()) {
      length += part.length
      if (length > bytesMax) {
        this.cut()
        return undefined
      }
      parts.push(part)
    }
    return new Uint8Array(Buffer.concat(parts, length))
  }

  cut(): void {
    this.#controller.abort()
  }
}

function headOf(response: Response): ResponseHead {
  const encoding = response.headers.get('content-encoding')?.toLowerCase() ?? ''
  const isDecompressed = DECOMPRESSED.has(encoding)
  const fields: string[] = []
  for (const [name, value] of response.headers) {
    if (isDecompressed && (name === 'content-encoding' || name === 'content-length')) continue
    fields.push(name, value)
  }
  return { status: response.status, fields, framing: 'until_close', isKept: false }
}
