import { MemberWalk, type Member } from './json/members.ts'

/** The places of the model and the usage in an object of a reply. */
export type ReplyPlaces = {
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
