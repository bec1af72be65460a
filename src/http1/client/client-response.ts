import { textOf, viewOf, type ByteRange } from '../byte-range.ts'
import type { HeaderFields } from '../wire/header-fields.ts'
import type { HttpResponse } from './http-client.ts'
import { clientError } from './client-error.ts'
import type { ResponseBody } from './exchange.ts'
import type { ResponseHead } from './response-head.ts'

/** A response whose head has come and whose body is read from a stream. */
export class ClientResponse implements HttpResponse {
  readonly status: number
  readonly headers: HeaderFields
  readonly contentLength: number | undefined
  readonly #body: ResponseBody

  constructor({ status, fields, framing }: ResponseHead, body: ResponseBody) {
    this.status = status
    this.headers = fields
    this.contentLength = typeof framing === 'number' ? framing : undefined
    this.#body = body
  }

  read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#body.read()
  }

  readAll(bytesMax: number): Promise<Buffer> {
    return this.#readWhole(bytesMax).then(viewOf)
  }

  readText(bytesMax: number): Promise<string | undefined> {
    return this.#readWhole(bytesMax).then(textOf)
  }

  cancel(): void {
    this.#body.cancel()
  }

  #readWhole(bytesMax: number): Promise<ByteRange> {
    if (this.contentLength === undefined || this.contentLength <= bytesMax)
      return this.#body.readWhole(bytesMax)
    this.cancel()
    return Promise.reject(clientError('RESPONSE_TOO_LARGE'))
  }
}
