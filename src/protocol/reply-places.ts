import { MemberWalk, type Member } from './json/members.ts'

/** Where an object of a reply names its model and its usage. */
export type ReplyPlaces = {
  /** Every one of them, in order, whichever a client reads. */
  readonly models: readonly Member[]
  /** Of several the last one, which is the parsed one. */
  readonly usage: Member | undefined
  readonly isEmpty: boolean
}

/** Finds them in the object whose brace opens at `objectStart`; without one, in the object that is the whole text. */
export function replyPlaces(text: string, objectStart?: number): ReplyPlaces {
  return (objectStart === undefined ? fromTheEnds(text) : undefined) ?? byWalking(text, objectStart)
}

const MODEL = '"model"'
const USAGE = '"usage"'
const BACKSLASH = 0x5c

/**
 * From the front to the model and from the usage to the end, as most replies have them, past the content between them: an embedding's
 * is tens of kilobytes. Undefined where that does not tell all. In JSON a name between two quotes of which the first is not escaped
 * is a whole string; so where it stands once, and no letter is written as its code, nothing else is called so.
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

/** The member whose key stands there; undefined where that is no member of the outermost object. */
function memberFromFront(text: string, keyStart: number): Member | undefined {
  const walk = new MemberWalk(text)
  do {
    if (!walk.next()) return undefined
  } while (walk.keyStart < keyStart)
  return walk.keyStart === keyStart ? walk.member() : undefined
}

/** The same, told by what follows: behind the outermost object's last member there is nothing but its brace. */
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
