import type { OwnedByteStream } from '../byte-stream.ts'
import { readAll } from '../read-all.ts'
import type { HeaderFields } from '../wire/header-fields.ts'
import type { HttpResponse } from './http-client.ts'
import { clientError } from './client-error.ts'
import type { ResponseHead } from './response-head.ts'

/** A response whose head has come and whose body is read from a stream. */
export class ClientResponse implements HttpResponse {
  readonly status: number
  readonly headers: HeaderFields
  readonly contentLength: number | undefined
  readonly #body: OwnedByteStream

  constructor({ status, fields, framing }: ResponseHead, body: OwnedByteStream) {
    this.status = status
    this.headers = fields
    this.contentLength = typeof framing === 'number' ? framing : undefined
    this.#body = body
  }

  read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#body.read()
  }

  async readAll(bytesMax: number): Promise<Buffer> {
    const isTooLong = this.contentLength !== undefined && this.contentLength > bytesMax
    const body = isTooLong ? undefined : await readAll(this.#body, bytesMax)
    if (body !== undefined) return body
    this.cancel()
    throw clientError('RESPONSE_TOO_LARGE')
  }

  cancel(): void {
    this.#body.cancel()
  }
}
