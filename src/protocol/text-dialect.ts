import type { Provider, TextRoute } from '../domain/catalog/provider.ts'
import type { GatewayError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { Usage } from '../domain/pricing/usage.ts'
import type { InputParts } from './input-parts.ts'
import type { UpstreamSecrets } from './scrub.ts'
import type { JsonDocument } from './json/parse-json.ts'

/** The wire format of one text route as pure functions: what the gateway reads of it and the few bytes it changes. */
export type TextDialect<Request extends TextRequest = TextRequest, Answer extends TextAnswer = TextAnswer> = {
  /** As clients call it: its name in the books. */
  readonly route: TextRoute | 'messages'
  /** As an upstream is asked for it. */
  readonly upstreamRoute: TextRoute
  /** The kind of model the route serves; another kind's name does not exist here. */
  readonly serves: 'chat' | 'embedding'
  /** Throws `invalid_field` or `ambiguous_field` for what the gateway must read and cannot. */
  readRequest(document: JsonDocument): Request
  /** What a request says to its model, for a moderator, made when asked for. Absent on a route that is not moderated. */
  moderatedText?(request: Request): string
  /** The request's own text with the model's name replaced or, on a route that is converted, what they become. */
  forUpstream(request: Request, model: string, provider: Pick<Provider, 'maxTokensField'>): string
  /** Undefined for a text that is no answer of this route, whatever the status said. */
  readAnswer(body: string, limits: UsageLimits): Answer | undefined
  /** The answer's own text with the model's name replaced and the cost added or, on a converted route, what they become. */
  forClient(answer: Answer, receipt: Receipt, request: Request): string
  /** What an answer's reply says of its body. Absent on a route that is not converted: there the upstream's words hold. */
  headersOf?(request: Request): Readonly<Record<string, string>>
  /** What becomes of an upstream's refusal, which is JSON in an envelope. Absent where clients read that as it is. */
  refusalOf?(envelope: string): string
}

/** What the gateway has to say of an answer that it charged. */
export type Receipt = {
  /** The request's own. */
  readonly id: Id
  /** The model's name in the catalog. */
  readonly model: string
  /** As it was charged: reported or estimated. */
  readonly usage: Usage
  /** Null where the reply names no cost. */
  readonly cost: NanoUsd | null
}

/** A text route that can also answer as a stream of server-sent events. */
export type StreamDialect<
  Request extends TextRequest = TextRequest,
  Answer extends TextAnswer = TextAnswer,
> = TextDialect<Request, Answer> & {
  /** A reader and rewriter for one stream of this request. `model` is the name that the client is shown. */
  openStream(request: Request, terms: StreamTerms): TextStream
}

export type StreamTerms = {
  /** The model's name in the catalog. */
  readonly model: string
  /** What an error of the upstream's must not tell the client. */
  readonly secrets?: UpstreamSecrets
  readonly limits: UsageLimits
  /** For an event made here in a stream that never told its own. */
  readonly fallback: { readonly id: string; readonly createdAtS: number }
}

/**
 * One stream on its way from the upstream to the client: bytes in, bytes out, metered as they pass.
 *
 *     feed, feed, … until isDone or the upstream's end → end → reading → the charge becomes durable → finish
 */
export interface TextStream {
  /** True once the upstream has said that this is all. */
  readonly isDone: boolean
  /** Takes what the upstream sent; gives what may leave now, which may be nothing. The bytes must not change later. */
  feed(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
  /** The upstream's stream is over, well or not. Gives what may leave of a last frame that has no blank line. */
  end(): Uint8Array<ArrayBuffer>
  /** What was read so far. */
  reading(): StreamReading
  /**
   * The last bytes, to be sent when the charge is durable. `charge` is null where there was none; `failure` is what the client
   * is told of a stream that did not end well.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Uint8Array<ArrayBuffer>
}

/** What was read of a stream: all that settling it needs. */
export type StreamReading = {
  /** Its route's sign of a whole answer came, and the upstream told no error. Everything else was broken. */
  readonly endedWell: boolean
  /** A model produced something: text, reasoning, a refusal, a call, sound. */
  readonly outputBegan: boolean
  /** The upstream told an error inside its 200. */
  readonly errorSeen: boolean
  /** It told the error before it had said anything else. */
  readonly errorFirst: boolean
  /** The last one that a frame carried; null where none did. */
  readonly usage: Usage | null
  /** True where an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
  /** The upstream's own cost, where its usage named one. */
  readonly reportedCost: NanoUsd | null
  /**
   * What was produced, for the tokenizer. A very long stream keeps only its first part; the tokens of the whole are about those of
   * these texts times `textsScale`.
   */
  texts(): readonly string[]
  readonly textsScale: number
}

/** What a stream was charged. */
export type StreamCharge = {
  /** What the client is told; null where streams of this model carry no cost. */
  readonly cost: NanoUsd | null
  readonly usage: Usage
}

/** What the gateway reads of a request. */
export type TextRequest = {
  readonly model: string
  readonly isStream: boolean
  /** The larger of the ceiling fields sent; undefined where none was. */
  readonly outputCeiling: number | undefined
  readonly choices: number
  /** How many texts the model reads one by one, each within its context window; absent where it reads one, with all that is in it. */
  readonly separateInputs?: number
  /**
   * By counting characters: cheap, and on the high side. Infinity where the model also reads what its provider has and the request
   * only names, such as a stored conversation or a file: how long that is, is not known here.
   */
  readonly inputTokensEstimate: number
  /** What a tokenizer would count, and the tokens of what it could not. Made only when asked for. */
  input(): InputParts
}

/** What the gateway reads of an answer. */
export type TextAnswer = {
  /** Null where the upstream did not say. */
  readonly usage: Usage | null
  /** True where an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
  /** The upstream's own cost, where its usage names one. */
  readonly reportedCost: NanoUsd | null
  /** No text, no reasoning, no refusal and no tool call, though nothing cut it short. */
  readonly isEmpty: boolean
  /** It has a top-level `error`, as a response that failed half-way. */
  readonly hasError: boolean
  /** What was produced, for the tokenizer. */
  texts(): readonly string[]
}

/** What a reported usage cannot exceed. */
export type UsageLimits = {
  readonly inputTokensMax: number | undefined
  /** Over all choices. */
  readonly outputTokensMax: number | undefined
}
