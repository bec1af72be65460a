import type { Member } from './json/members.ts'
import { jsonObjectOf } from './json/parse-json.ts'
import { moderatedText } from './moderated-text.ts'
import { withModelAndCost, type ModelAndCost, type ReplyObject } from './reply-edits.ts'
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

/** The request's own text with the value of `model` replaced; the very same where it is already that name. */
export function requestForUpstream(
  { text, model: asked, modelMember }: PassThroughRequest,
  model: string,
): string {
  if (asked === model) return text
  return text.slice(0, modelMember.start) + JSON.stringify(model) + text.slice(modelMember.end)
}

/** What the request says to its model. Read again from its text: only a moderator asks, and not every gateway has one. */
export function moderatedTextOf({ text }: PassThroughRequest): string {
  return moderatedText(jsonObjectOf(text))
}

/** What an answer's top-level `usage` reports. */
export function reportedBy(
  text: string,
  usage: unknown,
  limits: UsageLimits,
): Pick<PassThroughAnswer, 'reply' | 'usage' | 'isClamped' | 'reportedCost'> {
  const reported = readUsage(usage, limits)
  return {
    reply: { text, usage },
    usage: reported?.usage ?? null,
    isClamped: reported?.isClamped ?? false,
    reportedCost: findReportedCost(text, usage),
  }
}

/** The answer's own text with the logical model name and, where it is known, the cost. */
export function answerForClient({ reply }: PassThroughAnswer, shown: ModelAndCost): string {
  return withModelAndCost(reply, shown)
}
