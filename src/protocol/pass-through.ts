import { inputParts, type InputParts } from './input-parts.ts'
import type { Member } from './json/members.ts'
import { jsonObjectOf, type JsonDocument } from './json/parse-json.ts'
import { quotedName } from './json/quoted-name.ts'
import { unambiguousFields } from './json/unambiguous-fields.ts'
import { moderatedText } from './moderated-text.ts'
import { withModelAndCost, type ModelAndCost, type ReplyObject } from './reply-edits.ts'
import { requiredName } from './request-fields.ts'
import { findReportedCost } from './reported-cost.ts'
import type { TextAnswer, TextRequest, UsageLimits } from './text-dialect.ts'
import { readUsage } from './usage.ts'

/** A request that goes upstream as its own text, but for the model's name. */
export type PassThroughRequest = TextRequest & {
  readonly text: string
  /** Where the model's name stands in the text. */
  readonly modelMember: Member
}

/** An answer that goes to the client as its own text, but for the model's name and the cost. */
export type PassThroughAnswer = TextAnswer & { readonly reply: ReplyObject }

/**
 * What is the same of such a request on every route. Throws `ambiguous_field` for one of `fieldsRead` that could be read in two
 * ways, and `invalid_field` where no model is named.
 */
export function readNamedModel(
  document: JsonDocument,
  fieldsRead: ReadonlySet<string>,
): Pick<PassThroughRequest, 'model' | 'modelMember'> {
  const { wanted } = unambiguousFields(document, fieldsRead, 'model')
  const model = requiredName(document.value['model'], 'model')
  return { model, modelMember: wanted as Member }
}

/** What a tokenizer would count of these fields. Read again when asked for, which is rare: kept as values, a body weighs twice. */
export function inputOf(text: string, fields: readonly string[]): InputParts {
  return inputParts(jsonObjectOf(text), fields)
}

/** The request's own text with the value of `model` replaced; the very same where it is already that name. */
export function requestForUpstream(
  { text, model: asked, modelMember }: PassThroughRequest,
  model: string,
): string {
  if (asked === model) return text
  return text.slice(0, modelMember.start) + quotedName(model) + text.slice(modelMember.end)
}

/** What the request says to its model. Read again from its text: only a moderator asks, and not every gateway has one. */
export function moderatedTextOf({ text }: PassThroughRequest): string {
  return moderatedText(jsonObjectOf(text))
}

/** What an answer says of itself in its top-level `usage` and `error`. */
export function reportedBy(
  text: string,
  { usage, error }: Readonly<Record<string, unknown>>,
  limits: UsageLimits,
): Pick<PassThroughAnswer, 'reply' | 'usage' | 'isClamped' | 'reportedCost' | 'hasError'> {
  const reported = readUsage(usage, limits)
  return {
    reply: { text, usage },
    usage: reported?.usage ?? null,
    isClamped: reported?.isClamped ?? false,
    reportedCost: findReportedCost(text, usage),
    hasError: error !== undefined && error !== null,
  }
}

/** The answer's own text with the logical model name and, where it is known, the cost. */
export function answerForClient({ reply }: PassThroughAnswer, shown: ModelAndCost): string {
  return withModelAndCost(reply, shown)
}
