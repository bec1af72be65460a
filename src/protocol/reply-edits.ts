import { formatUsd, type NanoUsd } from '../domain/money.ts'
import { lastNamed, MemberWalk, type Member } from './json/members.ts'
import { quotedName } from './json/quoted-name.ts'
import { isJsonObject } from './json/parse-json.ts'
import { spliceText, type Edit } from './json/splice.ts'
import { replyPlaces } from './reply-places.ts'

const BRACE_OPEN = 0x7b
const SPACE = 0x20

/** The object in a reply's text with the model and the usage: the whole reply, or a part of it. */
export type ReplyObject = {
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
