import type { Member } from './json/members.ts'
import { parseJsonObject } from './json/parse-json.ts'
import { splice } from './json/splice.ts'
import { moderatedText } from './moderated-text.ts'
import { withModelAndCost, type ModelAndCost, type ReplyObject } from './reply-edits.ts'
import { findReportedCost } from './reported-cost.ts'
import type { TextAnswer, TextRequest, UsageLimits } from './text-dialect.ts'
import { readUsage } from './usage.ts'

/** A request that goes upstream as its own bytes, but for the model's name. */
export type PassThroughRequest = TextRequest & {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the model's name stands in the bytes. */
  readonly modelMember: Member
}

/** An answer that goes to the client as its own bytes, but for the model's name and the cost. */
export type PassThroughAnswer = TextAnswer & { readonly reply: ReplyObject }

/** The request's own bytes with the value of `model` replaced; the very same where it is already that name. */
export function requestForUpstream(request: PassThroughRequest, model: string): Uint8Array<ArrayBuffer> {
  if (request.model === model) return request.bytes
  const { start, end } = request.modelMember
  return splice(request.bytes, [{ start, end, text: JSON.stringify(model) }])
}

/** What the request says to its model. Read again from the bytes: only a moderator asks, and not every gateway has one. */
export function moderatedTextOf({ bytes }: PassThroughRequest): string {
  return moderatedText(parseJsonObject(bytes).value)
}

/** What an answer's top-level `usage` reports. */
export function reportedBy(
  bytes: Uint8Array<ArrayBuffer>,
  usage: unknown,
  limits: UsageLimits,
): Pick<PassThroughAnswer, 'reply' | 'usage' | 'isClamped' | 'reportedCost'> {
  const reported = readUsage(usage, limits)
  return {
    reply: { bytes, usage },
    usage: reported?.usage ?? null,
    isClamped: reported?.isClamped ?? false,
    reportedCost: findReportedCost(bytes, usage),
  }
}

/** The answer's own bytes with the logical model name and, where it is known, the cost. */
export function answerForClient({ reply }: PassThroughAnswer, shown: ModelAndCost): Uint8Array<ArrayBuffer> {
  return withModelAndCost(reply, shown)
}
