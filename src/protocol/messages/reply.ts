import { formatUsd } from '../../domain/money.ts'
import { outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import type { Receipt } from '../text-dialect.ts'
import type { Message, MessageBlock, StopReason } from './message.ts'

/** What the gateway adds to an answer. */
export type MessageReceipt = Omit<Receipt, 'id'>

/** Text of one event. Long enough that a long answer costs few events, short enough that a client sees it come. */
const DELTA_CHARS_MAX = 1024

/** The JSON reply. */
export function messageJson(message: Message, receipt: MessageReceipt): string {
  const content = message.blocks.map(block =>
    block.type === 'text' ? JSON.stringify(block) : toolUseJson(block, block.inputJson),
  )
  return messageText(message, receipt, {
    content: content.join(','),
    stopReason: message.stopReason,
    outputTokens: outputTokens(receipt.usage),
  })
}

/**
 * The reply as server-sent events, all of them, made of the finished message. The input's tokens and the cost stand in the
 * first, the output's tokens in `message_delta` alone. Every event has its name: clients see none that has not.
 */
export function messageEvents(message: Message, receipt: MessageReceipt): string {
  const { blocks, stopReason } = message
  const start = messageText(message, receipt, { content: '', stopReason: null, outputTokens: 0 })
  const delta = JSON.stringify({ stop_reason: stopReason, stop_sequence: null })
  const events = [event('message_start', `"message":${start}`)]
  for (const [index, block] of blocks.entries()) events.push(blockEvents(block, index))
  events.push(
    event('message_delta', `"delta":${delta},"usage":{"output_tokens":${outputTokens(receipt.usage)}}`),
    event('message_stop'),
  )
  return events.join('')
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
  const head = JSON.stringify({ id, type: 'message', role: 'assistant', model })
  const tail = JSON.stringify({
    stop_reason: changing.stopReason,
    // Chat does not tell which sequence it was.
    stop_sequence: null,
    usage: {
      ...inputUsage(usage),
      output_tokens: changing.outputTokens,
      ...(cost === null ? {} : { cost_usd: formatUsd(cost) }),
    },
  })
  return `${head.slice(0, -1)},"content":[${changing.content}],${tail.slice(1)}`
}

/** This dialect counts the cache beside `input_tokens`; clients add the three up. */
function inputUsage({ input, audioInput, cachedInput, cacheWrite }: Usage) {
  return {
    input_tokens: input + audioInput,
    ...(cacheWrite > 0 ? { cache_creation_input_tokens: cacheWrite } : {}),
    ...(cachedInput > 0 ? { cache_read_input_tokens: cachedInput } : {}),
  }
}

function blockEvents(block: MessageBlock, index: number): string {
  const isText = block.type === 'text'
  const start = isText ? '{"type":"text","text":""}' : toolUseJson(block, '{}')
  const deltas = isText
    ? piecesOf(block.text).map(text => ({ type: 'text_delta', text }))
    : [{ type: 'input_json_delta', partial_json: block.inputJson }]
  return [
    event('content_block_start', `"index":${index},"content_block":${start}`),
    ...deltas.map(delta => event('content_block_delta', `"index":${index},"delta":${JSON.stringify(delta)}`)),
    event('content_block_stop', `"index":${index}`),
  ].join('')
}

/** Cuts a text, but never between the two halves of a character. */
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

function toolUseJson(block: MessageBlock & { readonly type: 'tool_use' }, inputJson: string): string {
  const { type, id, name } = block
  return `${JSON.stringify({ type, id, name }).slice(0, -1)},"input":${inputJson}}`
}

function event(type: string, members = ''): string {
  return `event: ${type}\ndata: {"type":"${type}"${members === '' ? '' : `,${members}`}}\n\n`
}
