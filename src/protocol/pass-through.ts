import { clampedFeatures, featuresOf, findReportedCost, readUsage } from './usage.ts'
import { inputParts, type InputParts } from './estimate-tokens.ts'
import { MemberWalk, quotedName, type Member } from './json/json-text.ts'
import { jsonObjectOf, type JsonDocument } from './json/parse-json.ts'
import { requiredName, unambiguousFields } from './request-fields.ts'
import { moderatedText } from './moderated-text.ts'
import { withModelAndCost, type ModelAndCost, type ReplyObject } from './reply-edits.ts'
import type { TextAnswer, TextRequest, UsageLimits } from './text-dialect.ts'

/** A request whose text goes upstream unchanged, except for the model's name. */
export type PassThroughRequest = TextRequest & {
  readonly text: string
  /** The place of the model's name in the text. */
  readonly modelMember: Member
}

/** An answer whose text goes to the client unchanged, except for the model's name and the cost. */
export type PassThroughAnswer = TextAnswer & { readonly reply: ReplyObject }

/**
 * Reads the model of a request on any of these routes. Throws `ambiguous_field` when one of `fieldsRead` could be read
 * in two ways, and `invalid_field` when the request names no model.
 */
export function readNamedModel(
  document: JsonDocument,
  fieldsRead: ReadonlySet<string>,
): Pick<PassThroughRequest, 'model' | 'modelMember'> {
  const { wanted } = unambiguousFields(document, fieldsRead, 'model')
  const model = requiredName(document.value['model'], 'model')
  return { model, modelMember: wanted as Member }
}

/**
 * The input in these fields, for a tokenizer. Parses the text again, which is rare: keeping the values would double the
 * memory.
 */
export function inputOf(text: string, fields: readonly string[]): InputParts {
  return inputParts(jsonObjectOf(text), fields)
}

/** The JSON of these fields, in this order. */
export function promptOf(text: string, fields: readonly string[]): string {
  const values = fields.map(() => '')
  for (const walk = new MemberWalk(text); walk.next();) {
    const place = fields.findIndex(field => walk.isNamed(field))
    if (place >= 0) values[place] = text.slice(walk.start, walk.end)
  }
  return values.join('\n')
}

/** The request's text with the value of `model` replaced, or unchanged when it is already that name. */
export function requestForUpstream(
  { text, model: asked, modelMember }: PassThroughRequest,
  model: string,
): string {
  if (asked === model) return text
  return text.slice(0, modelMember.start) + quotedName(model) + text.slice(modelMember.end)
}

/** The text that the model reads. Parses the request again, because only a moderator needs it. */
export function moderatedTextOf({ text }: PassThroughRequest): string {
  return moderatedText(jsonObjectOf(text))
}

/** The reports in the top-level `usage`, `service_tier`, `output` and `error` of an answer. */
export function reportedBy(
  text: string,
  answer: Readonly<Record<string, unknown>>,
  limits: UsageLimits,
): Pick<PassThroughAnswer, 'reply' | 'usage' | 'features' | 'isClamped' | 'reportedCost' | 'hasError'> {
  const { usage, error } = answer
  const reported = readUsage(usage, limits)
  const { features, isClamped } = clampedFeatures(featuresOf(answer), limits)
  return {
    reply: { text, usage },
    usage: reported && { ...reported.usage, ...features },
    features,
    isClamped: isClamped || (reported?.isClamped ?? false),
    reportedCost: findReportedCost(usage, () => text, limits.costField),
    hasError: error !== undefined && error !== null,
  }
}

/** The answer's text with the logical model name and, if known, the cost. */
export function answerForClient({ reply }: PassThroughAnswer, shown: ModelAndCost): string {
  return withModelAndCost(reply, shown)
}
