import { formatUsd } from '../../domain/money.ts'
import { outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import { quotedName } from '../json/json-text.ts'
import type { Receipt } from '../text-dialect.ts'
import { eventText } from './event-frames.ts'
import type { Message, MessageBlock, StopReason } from './message.ts'

/** The members that the gateway adds to an answer. */
type MessageReceipt = Omit<Receipt, 'id'>

/** The text of one event: a long answer needs few events, and a client still sees it arrive in parts. */
const DELTA_CHARS_MAX = 1024

/** The JSON reply. */
export function messageJson(message: Message, receipt: MessageReceipt): string {
  return messageText(message, receipt, {
    content: message.blocks.map(blockJson).join(','),
    stopReason: message.stopReason,
    outputTokens: outputTokens(receipt.usage),
  })
}

function blockJson(block: MessageBlock): string {
  if (block.type === 'tool_use') return toolUseJson(block, block.inputJson)
  return `{"type":"text","text":${JSON.stringify(block.text)}}`
}

/**
 * The reply as server-sent events, made from the finished message. The first event has the input tokens and the cost,
 * and only `message_delta` has the output tokens. Every event has a name, because clients ignore events without one.
 */
export function messageEvents(message: Message, receipt: MessageReceipt): string {
  const { blocks, stopReason } = message
  const start = messageText(message, receipt, { content: '', stopReason: null, outputTokens: 0 })
  const outputUsage = `{"output_tokens":${outputTokens(receipt.usage)}}`
  let events = eventText('message_start', `"message":${start}`)
  for (const [index, block] of blocks.entries()) events += blockEvents(block, index)
  events += eventText('message_delta', `"delta":{${stopMembers(stopReason)}},"usage":${outputUsage}`)
  return events + eventText('message_stop')
}

function messageText(
  { id }: Message,
  { model, usage, cost }: MessageReceipt,
  changing: {
    readonly content: string
    readonly stopReason: StopReason | null
    readonly outputTokens: number
  },
): string {
  const { content, stopReason } = changing
  const costUsd = cost === null ? '' : `,"cost_usd":"${formatUsd(cost)}"`
  return (
    `{"id":${JSON.stringify(id)},"type":"message","role":"assistant","model":${quotedName(model)},` +
    `"content":[${content}],${stopMembers(stopReason)},` +
    `"usage":{${inputUsageText(usage)},"output_tokens":${changing.outputTokens}${costUsd}}}`
  )
}

/** Chat does not report which stop sequence it was. */
function stopMembers(stopReason: StopReason | null): string {
  return `"stop_reason":${stopReason === null ? 'null' : `"${stopReason}"`},"stop_sequence":null`
}

/** This dialect counts the cache beside `input_tokens`. Clients add the three numbers. */
export function inputUsageText({ input, audioInput, cachedInput, cacheWrite, cacheWrite1h }: Usage): string {
  const writes = cacheWrite + cacheWrite1h
  const written = writes > 0 ? `,"cache_creation_input_tokens":${writes}` : ''
  const read = cachedInput > 0 ? `,"cache_read_input_tokens":${cachedInput}` : ''
  return `"input_tokens":${input + audioInput}${written}${read}`
}

function blockEvents(block: MessageBlock, index: number): string {
  const isText = block.type === 'text'
  const start = isText ? '{"type":"text","text":""}' : toolUseJson(block, '{}')
  const deltas = isText
    ? piecesOf(block.text).map(text => `{"type":"text_delta","text":${JSON.stringify(text)}}`)
    : [`{"type":"input_json_delta","partial_json":${JSON.stringify(block.inputJson)}}`]
  let events = eventText('content_block_start', `"index":${index},"content_block":${start}`)
  for (const delta of deltas) events += eventText('content_block_delta', `"index":${index},"delta":${delta}`)
  return events + eventText('content_block_stop', `"index":${index}`)
}

/** Splits a text, but never between the two UTF-16 units of a character. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const end = from + DELTA_CHARS_MAX
    const to = end < text.length && isFirstHalf(text.charCodeAt(end - 1)) ? end - 1 : end
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

function isFirstHalf(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function toolUseJson({ id, name }: MessageBlock & { readonly type: 'tool_use' }, inputJson: string): string {
  return `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${inputJson}}`
}
