import { formatUsd, type NanoUsd } from '../domain/money.ts'
import { inputParts, type InputParts } from './estimate-tokens.ts'
import { MemberWalk, lastNamed, quotedName, spliceText, type Edit, type Member } from './json/json-text.ts'
import { isJsonObject, jsonObjectOf, type JsonDocument } from './json/parse-json.ts'
import { moderatedText } from './moderated-text.ts'
import { requiredName, unambiguousFields } from './request-fields.ts'
import type { TextAnswer, TextRequest, UsageLimits } from './text-dialect.ts'
import { clampedFeatures, featuresOf, findReportedCost, readUsage } from './usage.ts'

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

const BRACE_OPEN = 0x7b
const SPACE = 0x20

/** The object in a reply's text with the model and the usage: the whole reply, or a part of it. */
type ReplyObject = {
  readonly text: string
  /** The parsed value of its `usage`. */
  readonly usage: unknown
  /** The offset of its opening brace, if it is not the first one. */
  readonly start?: number
}

export type ModelAndCost = { readonly model: string; readonly cost: NanoUsd | null }

/**
 * The reply's text with the logical name in `model`, added as the first member if there is none, and the cost in
 * `usage.cost_usd`, which replaces the upstream's own or is added at the end. A cost of null removes `cost_usd`. A
 * reply without a `usage` object gets no cost.
 */
export function withModelAndCost(reply: ReplyObject, shown: ModelAndCost): string {
  return spliceText(reply.text, modelAndCostEdits(reply, shown))
}

/** The edits that `withModelAndCost` makes, in ascending order. */
export function modelAndCostEdits(
  { text, usage, start: objectStart }: ReplyObject,
  { model, cost }: ModelAndCost,
): Edit[] {
  const name = quotedName(model)
  const { models, usage: usageMember, isEmpty } = replyPlaces(text, objectStart)
  const edits: Edit[] = []
  for (const { start, end } of models) edits.push({ start, end, text: name })
  if (edits.length === 0) {
    const at = (objectStart ?? text.indexOf('{')) + 1
    edits.push({ start: at, end: at, text: `"model":${name}${isEmpty ? '' : ','}` })
  }
  if (usageMember !== undefined && isJsonObject(usage)) {
    const isBehind = usageMember.start > (edits.at(-1)?.start ?? 0)
    const counts = costEdits(text, usageMember, { cost, hasTheirs: Object.hasOwn(usage, 'cost_usd') })
    for (const edit of counts) edits.push(edit)
    if (!isBehind) edits.sort((left, right) => left.start - right.start)
  }
  return edits
}

/** The edits that only change the cost in the object's `usage`. Empty without a `usage` object. */
export function usageCostEdits({ text, usage, start }: ReplyObject, cost: NanoUsd | null): Edit[] {
  const member = lastNamed(text, 'usage', start)
  if (member === undefined || !isJsonObject(usage)) return []
  return costEdits(text, member, { cost, hasTheirs: Object.hasOwn(usage, 'cost_usd') })
}

function costEdits(
  text: string,
  usage: Member,
  { cost, hasTheirs }: { readonly cost: NanoUsd | null; readonly hasTheirs: boolean },
): Edit[] {
  const ours = cost === null ? null : `"${formatUsd(cost)}"`
  if (!hasTheirs) return ours === null ? [] : [appended(text, usage.end, `"cost_usd":${ours}`)]
  const counts: Member[] = []
  const theirs: Member[] = []
  for (const walk = new MemberWalk(text, usage.start); walk.next();) {
    const member = walk.member()
    counts.push(member)
    if (walk.isNamed('cost_usd')) theirs.push(member)
  }
  if (ours === null) return removals(counts, theirs)
  const [{ start, end }, ...others] = theirs as [Member, ...Member[]]
  return [{ start, end, text: ours }, ...removals(counts, others)]
}

/** Adds a member after the last one of the object that ends at `objectEnd`. */
function appended(text: string, objectEnd: number, member: string): Edit {
  let at = objectEnd - 1
  while (text.charCodeAt(at - 1) <= SPACE) at -= 1
  return { start: at, end: at, text: text.charCodeAt(at - 1) === BRACE_OPEN ? member : `,${member}` }
}

/** Removes members, each with one comma. */
function removals(all: readonly Member[], removed: readonly Member[]): Edit[] {
  const edits: Edit[] = []
  let isFirst = true
  for (const [index, member] of all.entries()) {
    const { keyStart, end } = member
    if (!removed.includes(member)) {
      isFirst = false
    } else if (isFirst) {
      edits.push({ start: keyStart, end: all[index + 1]?.keyStart ?? end, text: '' })
    } else {
      edits.push({ start: (all[index - 1] as Member).end, end, text: '' })
    }
  }
  return edits
}

/** The places of the model and the usage in an object of a reply. */
type ReplyPlaces = {
  /** All `model` members in order, because a client may read any of them. */
  readonly models: readonly Member[]
  /** The last `usage` member, the one that a parser keeps. */
  readonly usage: Member | undefined
  readonly isEmpty: boolean
}

/** Finds the places in the object whose brace is at `objectStart`, or in the object that is the whole text. */
export function replyPlaces(text: string, objectStart?: number): ReplyPlaces {
  return (objectStart === undefined ? fromTheEnds(text) : undefined) ?? byWalking(text, objectStart)
}

const MODEL = '"model"'
const USAGE = '"usage"'
const BACKSLASH = 0x5c

/**
 * Walks from the front to the model and from the usage to the end, and skips the content between them: an embedding has
 * tens of kilobytes of it. Undefined when that cannot find every place. In JSON, a name between two quotes is a whole
 * string if the first quote is not escaped. So if `"model"` occurs once, and the text has no `\u` escapes, no other
 * member has that name.
 */
function fromTheEnds(text: string): ReplyPlaces | undefined {
  const modelAt = text.indexOf(MODEL)
  const usageAt = text.indexOf(USAGE)
  if (modelAt < 0 || usageAt < modelAt || text.includes('\\u')) return undefined
  if (text.charCodeAt(usageAt - 1) === BACKSLASH) return undefined
  if (text.includes(MODEL, modelAt + 1) || text.includes(USAGE, usageAt + 1)) return undefined
  const model = memberFromFront(text, modelAt)
  const usage = memberToEnd(text, usageAt)
  return model === undefined || usage === undefined ? undefined : { models: [model], usage, isEmpty: false }
}

/** The member whose key is at this place; undefined when it is not a member of the outermost object. */
function memberFromFront(text: string, keyStart: number): Member | undefined {
  const walk = new MemberWalk(text)
  do {
    if (!walk.next()) return undefined
  } while (walk.keyStart < keyStart)
  return walk.keyStart === keyStart ? walk.member() : undefined
}

/** Like `memberFromFront`, but checks what follows: only the brace may follow the outermost object's last member. */
function memberToEnd(text: string, keyStart: number): Member | undefined {
  const walk = MemberWalk.from(text, keyStart)
  const member = walk?.next() === true ? walk.member() : undefined
  while (walk?.next() === true);
  return walk?.endsText === true ? member : undefined
}

function byWalking(text: string, objectStart?: number): ReplyPlaces {
  const models: Member[] = []
  let usage: Member | undefined
  let isEmpty = true
  for (const walk = new MemberWalk(text, objectStart); walk.next();) {
    isEmpty = false
    if (walk.isNamed('model')) models.push(walk.member())
    else if (walk.isNamed('usage')) usage = walk.member()
  }
  return { models, usage, isEmpty }
}
