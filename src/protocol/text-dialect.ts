import type { TextRoute } from '../domain/catalog/provider.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { Usage } from '../domain/pricing/usage.ts'
import type { JsonDocument } from './json/parse-json.ts'

/** The wire format of one text route as pure functions: what the gateway reads of it and the few bytes it changes. */
export type TextDialect<Request extends TextRequest = TextRequest, Answer extends TextAnswer = TextAnswer> = {
  readonly route: TextRoute
  /** The kind of model the route serves; another kind's name does not exist here. */
  readonly serves: 'chat' | 'embedding'
  /** Throws `invalid_field` or `ambiguous_field` for what the gateway must read and cannot. */
  readRequest(document: JsonDocument): Request
  /** The request's own bytes with the model's name replaced. */
  forUpstream(request: Request, model: string): Uint8Array<ArrayBuffer>
  /** Undefined for bytes that are no answer of this route, whatever the status said. */
  readAnswer(body: Uint8Array<ArrayBuffer>, limits: UsageLimits): Answer | undefined
  /** The answer's own bytes with the model's name replaced and the cost added; without a cost where that is null. */
  forClient(
    answer: Answer,
    reply: { readonly model: string; readonly cost: NanoUsd | null },
  ): Uint8Array<ArrayBuffer>
}

/** What the gateway reads of a request. */
export type TextRequest = {
  readonly model: string
  readonly isStream: boolean
  /** The larger of the ceiling fields sent; undefined where none was. */
  readonly outputCeiling: number | undefined
  readonly choices: number
  /** By counting characters: cheap, and on the high side. */
  readonly inputTokensEstimate: number
  /** The texts that a tokenizer would count. Made only when asked for. */
  texts(): readonly string[]
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
  /** As for a request: what was produced, for the tokenizer. */
  texts(): readonly string[]
}

/** What a reported usage cannot exceed. */
export type UsageLimits = {
  readonly inputTokensMax: number | undefined
  /** Over all choices. */
  readonly outputTokensMax: number | undefined
}
