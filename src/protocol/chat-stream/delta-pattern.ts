import { byteText } from '../json/byte-text.ts'
import { MemberWalk, type Member } from '../json/members.ts'
import { isJsonObject } from '../json/parse-json.ts'
import { modelAndCostEdits } from '../reply-edits.ts'
import { dataInPlace } from '../sse/frame.ts'
import { FramePattern, type StringSpan } from '../sse/frame-pattern.ts'
import type { ChatChunk } from './chunk.ts'
import { answerChannel, reasoningChannel } from './meter.ts'

type Bytes = Uint8Array<ArrayBuffer>
type JsonObject = Readonly<Record<string, unknown>>

/** What the frames of a pattern have in common. */
export type DeltaPattern = {
  readonly frame: FramePattern
  /** The choice they belong to, by its index, and which of its texts each of them adds to. */
  readonly choice: number
  readonly outputChannel: number
}

/** The members of a delta that are metered. */
const meteredMembers = [
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'tool_calls',
  'function_call',
  'audio',
] as const

/**
 * The pattern of a frame that adds one text to one choice and says nothing else that is metered, so that one that differs only
 * in that text, or in the padding behind it, can be metered and passed on without being parsed. Undefined for all other
 * frames. The chunk tells no error. `model` is the name to put in the place of the upstream's, if any.
 */
export function deltaPattern(
  frame: Bytes,
  { value, choices, usage }: ChatChunk,
  model: string | null,
): DeltaPattern | undefined {
  const [choice] = choices
  const delta = choice?.['delta']
  if (usage !== undefined || choice === undefined || !isJsonObject(delta)) return undefined
  if (isJsonObject(choice['usage']) || dataInPlace(frame) !== frame) return undefined
  const json = byteText(frame)
  const path = pathOfText(delta)
  const text = path && findMember(json, value, ['choices', 'delta', ...path])
  if (text === undefined) return undefined
  const isRenamed = model !== null && value['model'] !== model
  const edits = isRenamed ? modelAndCostEdits({ text: json, usage: undefined }, { model, cost: null }) : []
  const padding = findPadding(json, value)
  // A name between the two would have to be replaced in the middle.
  const isBehind =
    padding !== undefined && padding.start > text.end && !edits.some(({ start }) => start > text.end)
  const strings = { text: withoutQuotes(text), padding: isBehind ? withoutQuotes(padding) : undefined }
  const pattern = new FramePattern(frame, strings, edits)
  const index = typeof choice['index'] === 'number' ? choice['index'] : 0
  const isReasoning = path?.[0]?.startsWith('reasoning') === true
  return {
    frame: pattern,
    choice: index,
    outputChannel: isReasoning ? reasoningChannel(index) : answerChannel(index),
  }
}

/** The way to the one text of a delta; undefined where it has none, or more to meter. */
function pathOfText(delta: JsonObject): readonly string[] | undefined {
  const said = meteredMembers.filter(name => isSaid(delta[name]))
  const [name] = said
  if (name === undefined || said.length > 1) return undefined
  if (name === 'tool_calls') {
    return isGoingOn(delta[name]) ? ['tool_calls', 'function', 'arguments'] : undefined
  }
  // Also an empty one stands before the other name's.
  if (name === 'reasoning' && delta['reasoning_content'] === '') return undefined
  return typeof delta[name] === 'string' ? [name] : undefined
}

function isSaid(member: unknown): boolean {
  return member !== undefined && member !== null && member !== ''
}

/** One call, whose name has come before. */
function isGoingOn(calls: unknown): boolean {
  const call: unknown = Array.isArray(calls) && calls.length === 1 ? calls[0] : undefined
  const called = isJsonObject(call) ? call['function'] : undefined
  return isJsonObject(called) && !isSaid(called['name']) && typeof called['arguments'] === 'string'
}

/**
 * The member at the end of a path. A list on the way holds one object, and no object on it a name twice: the parser has kept
 * one of them.
 */
function findMember(json: string, chunk: JsonObject, path: readonly string[]): Member | undefined {
  let value: unknown = chunk
  let start = 0
  let member: Member | undefined
  for (const name of path) {
    if (Array.isArray(value)) value = value.length === 1 ? value[0] : undefined
    if (!isJsonObject(value)) return undefined
    let count = 0
    member = undefined
    for (const walk = new MemberWalk(json, json.indexOf('{', start)); walk.next(); count += 1) {
      if (walk.isNamed(name)) member = walk.member()
    }
    if (member === undefined || count !== Object.keys(value).length) return undefined
    start = member.start
    value = value[name]
  }
  return member
}

/**
 * Some upstreams pad each frame, so that its length tells an eavesdropper nothing. It stands last; of the texts that may stand
 * there the model's name alone is looked at in each frame.
 */
function findPadding(json: string, chunk: JsonObject): Member | undefined {
  const name = Object.keys(chunk).at(-1)
  if (name === undefined || name === 'model' || typeof chunk[name] !== 'string') return undefined
  const walk = new MemberWalk(json)
  while (walk.next());
  return walk.isNamed(name) ? walk.member() : undefined
}

function withoutQuotes({ start, end }: Member): StringSpan {
  return { start: start + 1, end: end - 1 }
}
