import { MemberWalk, byteText, type Member } from '../json/json-text.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { modelAndCostEdits } from '../pass-through.ts'
import { dataInPlace } from '../sse/frame.ts'
import { FramePattern, type StringSpan } from '../sse/frame-pattern.ts'
import type { ChatChunk } from './chunk.ts'
import { answerChannel, reasoningChannel } from './meter.ts'
import type { Bytes } from '../../domain/bytes.ts'

/** A pattern of frames, and what its frames add to. */
export type DeltaPattern = {
  readonly frame: FramePattern
  /** The index of their choice, and the output channel that they add to. */
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
 * The pattern of a frame that adds one text to one choice and has nothing else to meter. A frame that differs only in
 * that text, or in the padding after it, can then be metered and passed on without parsing. Undefined for all other
 * frames. The chunk must not be an error. `model` replaces the upstream's name; null keeps it.
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
  // A model name between the text and the padding would need an edit in the middle.
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

/** The path to the only text of a delta; undefined when it has none, or more to meter. */
function pathOfText(delta: JsonObject): readonly string[] | undefined {
  const said = meteredMembers.filter(name => isSaid(delta[name]))
  const [name] = said
  if (name === undefined || said.length > 1) return undefined
  if (name === 'tool_calls') {
    return isGoingOn(delta[name]) ? ['tool_calls', 'function', 'arguments'] : undefined
  }
  // An empty `reasoning_content` still takes precedence over `reasoning`.
  if (name === 'reasoning' && delta['reasoning_content'] === '') return undefined
  return typeof delta[name] === 'string' ? [name] : undefined
}

function isSaid(member: unknown): boolean {
  return member !== undefined && member !== null && member !== ''
}

/** Whether this is one call whose name has come before. */
function isGoingOn(calls: unknown): boolean {
  const call: unknown = Array.isArray(calls) && calls.length === 1 ? calls[0] : undefined
  const called = isJsonObject(call) ? call['function'] : undefined
  return isJsonObject(called) && !isSaid(called['name']) && typeof called['arguments'] === 'string'
}

/**
 * The member at the end of a path. Undefined when a list on the path has more than one object, or an object on it has a
 * repeated name, of which the parser has kept only one.
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
 * Finds the padding that some upstreams add to each frame, which hides the length of its text from an eavesdropper. It
 * is the last member. A last member that is the model's name is not padding, because the gateway reads it in each
 * frame.
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
