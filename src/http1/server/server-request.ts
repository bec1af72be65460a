import { DisconnectSignal } from '../../gateway/disconnect-signal.ts'
import { HeaderFields } from '../wire/header-fields.ts'
import type { RequestHead } from '../wire/request-head.ts'
import type { SentText } from '../../protocol/json/parse-json.ts'
import type { BodyLimits, IncomingRequest } from '../../http/incoming-request.ts'
import type { Reply } from '../../http/request-context.ts'
import { tooLarge, type RequestBody } from './request-body.ts'
import { NO_BODY, textOf, type WholeBody } from './whole-body.ts'

/** The connection of a request, as far as the request knows it. */
export type Line = {
  /** Gets a body that had not come whole with the head. */
  readBody(body: RequestBody, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>>
  /** Sends the reply, or drops it where the client has left. Throws, with nothing sent, for one that cannot be sent. */
  reply(request: ServerRequest, reply: Reply, lines: string): void
}

/** One request of a connection. */
export class ServerRequest implements IncomingRequest {
  readonly head: RequestHead
  hasLeft = false
  readonly #content: WholeBody | RequestBody
  readonly #line: Line
  #signal: DisconnectSignal | undefined

  /** With its body, whole or on its way. */
  constructor(head: RequestHead, content: WholeBody | RequestBody, line: Line) {
    this.head = head
    this.#content = content
    this.#line = line
  }

  get method(): string {
    return this.head.method
  }

  get path(): string {
    return this.head.path
  }

  get query(): string {
    return this.head.query
  }

  header(name: string): string | null {
    return this.head.fields.get(name)
  }

  get signal(): DisconnectSignal {
    if (this.#signal === undefined) {
      this.#signal = new DisconnectSignal()
      if (this.hasLeft) this.#signal.fire()
    }
    return this.#signal
  }

  body(limits: BodyLimits): SentText | Promise<SentText> {
    const { framing } = this.head
    if (framing !== 'chunked' && framing > limits.bytesMax) throw tooLarge(limits.bytesMax)
    const content = this.#content
    return 'bytes' in content ? textOf(content) : this.#read(content, limits)
  }

  async #read(body: RequestBody, limits: BodyLimits): Promise<SentText> {
    const { buffer, byteOffset, length } = await this.#line.readBody(body, limits)
    return textOf({ bytes: Buffer.from(buffer, byteOffset, length), start: 0, end: length })
  }

  /** With more lines for its head, each with its end. */
  reply(reply: Reply, lines = ''): void {
    this.#line.reply(this, reply, lines)
  }

  /** The client has left before its reply was over. */
  leave(): void {
    this.hasLeft = true
    this.#signal?.fire()
  }
}

/** Stands for what could not be read as a request. */
export function unreadRequest(line: Line): ServerRequest {
  return new ServerRequest(UNREAD, NO_BODY, line)
}

const UNREAD: RequestHead = {
  method: '',
  path: '',
  query: '',
  fields: HeaderFields.none(),
  framing: 0,
  isOld: false,
  isKept: false,
  expectsContinue: false,
}
