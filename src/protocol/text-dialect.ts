import type { Bytes } from '../domain/bytes.ts'
import type { TextModel } from '../domain/catalog/model.ts'
import type { Provider, TextRoute } from '../domain/catalog/provider.ts'
import type { GatewayError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { ExactUsd } from '../domain/pricing/exact-usd.ts'
import type { TierLimit } from '../domain/pricing/service-tiers.ts'
import type { Usage } from '../domain/pricing/usage.ts'
import type { BilledFeatures, CostField } from './usage.ts'
import type { InputParts } from './estimate-tokens.ts'
import type { MediaInputs } from './media-inputs.ts'
import type { UpstreamSecrets } from './scrub.ts'
import type { JsonDocument } from './json/parse-json.ts'
import type { PricedFeatures } from './request-features.ts'

/** The wire format of one text route as pure functions: what the gateway reads and the few bytes that it changes. */
export type TextDialect<Request extends TextRequest = TextRequest, Answer extends TextAnswer = TextAnswer> = {
  /** The route that clients call, and its name in the ledger. */
  readonly route: TextRoute
  /** The route that upstreams are called on. */
  readonly upstreamRoute: TextRoute
  /** The kind of model that the route serves. Models of another kind are not found. */
  readonly serves: 'chat' | 'embedding'
  /** Throws `invalid_field` or `ambiguous_field` for a field that the gateway must read and cannot. */
  readRequest(document: JsonDocument): Request
  /** The text that the model reads, for a moderator. Absent on a route that is not moderated. */
  moderatedText?(request: Request): string
  /** The request's text with the model's name replaced or, on a converted route, the converted request. */
  forUpstream(
    request: Request,
    model: string,
    provider: Pick<Provider, 'maxTokensField' | 'streamUsage' | 'omitFields'>,
    row: TextModel,
  ): string
  /** Undefined for a text that is not an answer of this route, at any status. */
  readAnswer(body: string, limits: UsageLimits): Answer | undefined
  /**
   * The answer's text with the model's name replaced and the cost added or, on a converted route, the converted answer.
   */
  forClient(answer: Answer, receipt: Receipt, request: Request): string
  /** The media type of a converted answer. Absent on a route that is not converted, which uses the upstream's. */
  contentTypeOf?(request: Request): string
}

/** The members that the gateway adds to a charged answer. */
export type Receipt = {
  /** The request's id. */
  readonly id: Id
  /** The model's name in the catalog. */
  readonly model: string
  /** The charged usage, reported or estimated. */
  readonly usage: Usage
  /** Null when the reply shows no cost. */
  readonly cost: NanoUsd | null
}

/** A text route that can also answer as a stream of server-sent events. */
export type StreamDialect<
  Request extends TextRequest = TextRequest,
  Answer extends TextAnswer = TextAnswer,
> = TextDialect<Request, Answer> & {
  /** Creates the reader and rewriter for one stream of this request. */
  openStream(request: Request, terms: StreamTerms): TextStream
}

export type StreamTerms = {
  /** The model's name in the catalog. */
  readonly model: string
  /** The names that are removed from errors of the upstream. */
  readonly secrets?: UpstreamSecrets
  readonly limits: UsageLimits
  /** The gateway asks the provider for the usage even if the client's request does not. */
  readonly isUsageAsked?: boolean
  /** The client gets heartbeats also in a stream that is otherwise relayed byte for byte. */
  readonly hasHeartbeats?: boolean
  /** For an event that the gateway makes in a stream whose own id and time never came. */
  readonly fallback: { readonly id: string; readonly createdAtS: number }
}

/**
 * One stream from the upstream to the client: bytes in, bytes out, metered as they pass. The order of calls:
 *
 *     feed, feed, … until isDone or the upstream's end → end → reading → the charge becomes durable → finish
 */
export interface TextStream {
  /** True once the upstream has sent its sign that the stream is complete. */
  readonly isDone: boolean
  /**
   * Shows the client that the stream continues while nothing else is sent. Absent in a stream that is relayed byte for
   * byte.
   */
  readonly heartbeat?: Heartbeat
  /**
   * Takes bytes from the upstream and returns the bytes to send now, possibly none. These may be a view of `chunk`,
   * whose bytes need to stay only until the next call of any method.
   */
  feed(chunk: Bytes): Bytes
  /** Ends the upstream's stream, complete or not. Returns the bytes to send of a last frame without a blank line. */
  end(): Bytes
  /** The facts that have been read so far. */
  reading(): StreamReading
  /**
   * Returns the last bytes, to send once the charge is durable. `charge` is null when nothing was charged. `failure` is
   * the error to send for a stream that did not end well.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes
}

export type Heartbeat = {
  /** How long the client gets nothing before each heartbeat. */
  readonly afterMs: number
  /** Whether one may be the first thing that the client gets. From then on, no other upstream can be called. */
  readonly mayComeFirst: boolean
  /** Empty while the bytes so far end inside a frame. Always the same array otherwise. */
  bytes(): Bytes
}

/** The facts of a stream that its settlement needs. */
export type StreamReading = {
  /** The route's sign of a complete answer came, and no error. Any other stream was broken. */
  readonly endedWell: boolean
  /** The model produced something: text, reasoning, a refusal, a call or audio. */
  readonly outputBegan: boolean
  /** The upstream sent an error after its 200. */
  readonly errorSeen: boolean
  /** The error came before anything else. */
  readonly errorFirst: boolean
  /** The last usage in a frame; null when there was none. */
  readonly usage: Usage | null
  /** The input as it was reported, for a stream whose usage lacks only the output. Absent otherwise. */
  readonly inputUsage?: Usage
  /** The features that the stream names beside its tokens. `usage` has them too. */
  readonly features: BilledFeatures
  /** True when an impossible count in the reported usage was replaced. */
  readonly isClamped: boolean
  /** The upstream's own cost, if its usage reports one. */
  readonly reportedCost: ExactUsd | null
  /**
   * The produced texts, for the tokenizer. Only the first part of a very long stream is kept: the tokens of the whole
   * are about the tokens of these texts times `textsScale`.
   */
  texts(): readonly string[]
  readonly textsScale: number
}

/** The charge of a stream. */
export type StreamCharge = {
  /** The cost to send; null when streams of this model carry no cost. */
  readonly cost: NanoUsd | null
  readonly usage: Usage
}

/** The facts that the gateway reads in a request. */
export type TextRequest = {
  readonly model: string
  /** The end user that the request names. Undefined for none. */
  readonly userId?: string | undefined
  readonly isStream: boolean
  /** The larger of the output ceilings in the request; undefined when there is none. */
  readonly outputCeiling: number | undefined
  /** The field that sets the output ceiling, for error messages. Absent on a route without output. */
  readonly outputCeilingField?: string
  readonly choices: number
  /**
   * The number of texts that the model reads separately, each within its context window. Absent when it reads all as
   * one.
   */
  readonly separateInputs?: number
  /**
   * A cheap estimate by counting characters, too high rather than too low. Infinity when the request references content
   * that only the provider has, such as a stored conversation or a file, whose length is not known here.
   */
  readonly inputTokensEstimate: number
  /** The media that the model has to read. Absent on a route whose requests have none. */
  readonly media?: MediaInputs
  /** The tools of the provider that the model may use. Absent if there are none. */
  readonly serverTools?: ServerTools
  /** The model may use tools that run at Google. Their prompts are in the total of the usage. */
  readonly usesGoogleTools?: boolean
  /** The texts for a tokenizer, and the tokens of parts that it cannot count. Made on demand. */
  input(): InputParts
  /**
   * The JSON of what the model reads, in the order in which providers give it to the model, so that two prompts begin
   * alike if the provider's cache can use one for the other. Made on demand.
   */
  prompt(): string
  /**
   * The features that a row may price. Made on demand. Throws `ambiguous_field` if they could be read in two ways.
   * Absent on a route whose requests can have none.
   */
  pricedFeatures?(): PricedFeatures
}

/** Tools that run on the provider's servers, which charges for each use. */
export type ServerTools = {
  /** The name of one of them in the request, for error messages. */
  readonly name: string
  /** The most uses that the request allows or, if it does not limit them, an ordinary number. */
  readonly usesMax: number
  readonly isLimited: boolean
}

/** The facts that the gateway reads in an answer. */
export type TextAnswer = {
  /** Null when the upstream did not report it. */
  readonly usage: Usage | null
  /** True when an impossible count in the reported usage was replaced. */
  readonly isClamped: boolean
  /** The upstream's own cost, if its usage reports one. */
  readonly reportedCost: ExactUsd | null
  /** It has no text, reasoning, refusal or tool call, although nothing cut it short. */
  readonly isEmpty: boolean
  /** The features that the answer names beside its tokens. `usage` has them too. */
  readonly features: BilledFeatures
  /** It has a top-level `error`, like a response that failed half-way. */
  readonly hasError: boolean
  /** The produced texts, for the tokenizer. */
  texts(): readonly string[]
}

/** The highest possible counts of a reported usage, and how its provider's row says that it reports. */
export type UsageLimits = {
  readonly inputTokensMax: number | undefined
  /** For all choices together. */
  readonly outputTokensMax: number | undefined
  /** Undefined if the request does not limit the uses of server tools. */
  readonly serverToolUsesMax?: number | undefined
  /** The output may have thinking that only the total counts, as Gemini reports it. */
  readonly hidesThinking?: boolean
  /** Where the usage has the provider's own cost. Absent: `cost`, as OpenRouter reports it. */
  readonly costField?: CostField
  /** The most searches of each kind. Undefined if the request does not limit them. */
  readonly toolCallsMax?: number | undefined
  /** Undefined if the row has the same prices for all service tiers. */
  readonly tierLimit?: TierLimit | undefined
}
