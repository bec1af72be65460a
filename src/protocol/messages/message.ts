import { findJsonObject, isJsonObject, type JsonObject } from '../json/parse-json.ts'

/** A finished answer in the messages dialect, before the gateway adds its cost. */
export type Message = {
  readonly id: string
  readonly blocks: readonly MessageBlock[]
  readonly stopReason: StopReason
}

export type MessageBlock =
  | { readonly type: 'text'; readonly text: string }
  /** `inputJson` is a JSON object exactly as the model wrote it. */
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly inputJson: string }

export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'stop_sequence'

const stopReasons: ReadonlyMap<unknown, StopReason> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  // The older name of `tool_calls`.
  ['function_call', 'tool_use'],
  ['content_filter', 'stop_sequence'],
])

const NOTHING: JsonObject = {}
const NONE: readonly JsonObject[] = []

/** The texts that models write as arguments for a call without arguments. */
const noArguments: ReadonlySet<string> = new Set(['', 'null'])

/**
 * Converts the first choice of a chat completion to a message. The id is the upstream's, or `fallbackId()` when it sent
 * none. Content that is missing or malformed adds no block.
 */
export function messageOf(completion: JsonObject, fallbackId: () => string): Message {
  const id = nameOf(completion['id']) ?? fallbackId()
  const choices = completion['choices']
  const choice = objectOf(Array.isArray(choices) ? choices[0] : undefined)
  const message = objectOf(choice['message'])
  const blocks: MessageBlock[] = []
  addTexts(blocks, message)
  const textCount = blocks.length
  addCalls(blocks, message, id)
  const hasCalls = blocks.length > textCount
  return {
    id,
    blocks,
    stopReason: stopReasonOf(choice['finish_reason'], hasCalls),
  }
}

/** The reason to stop for a finish reason, which some upstreams do not send. */
export function stopReasonOf(finishReason: unknown, hasCalls: boolean): StopReason {
  return stopReasons.get(finishReason) ?? (hasCalls ? 'tool_use' : 'end_turn')
}

/** Adds the content and the refusal. */
function addTexts(blocks: MessageBlock[], { content, refusal }: JsonObject): void {
  addText(blocks, content)
  for (const part of listOf(content)) addText(blocks, part['text'] ?? part['refusal'])
  addText(blocks, refusal)
}

function addText(blocks: MessageBlock[], text: unknown): void {
  if (typeof text === 'string' && text !== '') blocks.push({ type: 'text', text })
}

function addCalls(blocks: MessageBlock[], message: JsonObject, messageId: string): void {
  const calls = listOf(message['tool_calls'])
  // The older format of a single call, which some upstreams send beside the list as well.
  const older = calls.length === 0 ? message['function_call'] : undefined
  for (const [index, call] of (older === undefined ? calls : [{ function: older }]).entries()) {
    const called = objectOf(call['function'])
    const name = nameOf(called['name'])
    if (name === undefined) continue
    const id = nameOf(call['id']) ?? `call_${messageId}_${index}`
    blocks.push({ type: 'tool_use', id, name, inputJson: inputJsonOf(called['arguments']) })
  }
}

/**
 * Arguments are normally JSON text. Some upstreams send an object, or nothing for a call without arguments. Text that
 * is not a JSON object, such as text that the output ceiling cut, is passed on for the client to see.
 */
export function inputJsonOf(args: unknown): string {
  if (isJsonObject(args)) return JSON.stringify(args)
  if (typeof args !== 'string' || noArguments.has(args.trim())) return '{}'
  return findJsonObject(args) === undefined ? JSON.stringify({ raw_arguments: args }) : args
}

export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NOTHING
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : NONE
}
