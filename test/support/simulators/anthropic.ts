import { readFileSync } from 'node:fs'
import { jsonReply, type SimulatedReply, type SimulatedRequest } from './simulated-reply.ts'
import type { JsonObject } from '../../../src/protocol/json/parse-json.ts'

type Block = JsonObject & { readonly type: string }

/** What the simulator does with one request. */
export type AnthropicBehavior =
  | { readonly error: string; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** An answer with these blocks and this usage. */
  | {
      readonly content?: readonly Block[]
      readonly usage?: JsonObject
      readonly stopReason?: string
      /** Of a stream: sends only so many events, and then this. */
      readonly breakAfter?: number
      readonly breakWith?: 'reset' | 'error' | 'silence'
      /** Between the events of a stream. */
      readonly pauseMs?: number
    }

const fixture = (name: string) =>
  readFileSync(new URL(`../../../src/providers/anthropic/fixtures/${name}.json`, import.meta.url), 'utf8')

const DEFAULT_USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 5,
  service_tier: 'standard',
}

/** What the provider believes of one request. */
export type AnthropicLedgerRow = {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: JsonObject
}

/** A server of Anthropic's dialect, in memory. It checks requests as the real one does. */
export class AnthropicSimulator {
  readonly #key: string
  readonly #script: AnthropicBehavior[] = []
  readonly #ledger: AnthropicLedgerRow[] = []
  #messages = 0

  constructor(key: string) {
    this.#key = key
  }

  /** What the next requests are treated like, one each. Those that come after get an answer that fits them. */
  script(...behaviors: readonly AnthropicBehavior[]): void {
    this.#script.push(...behaviors)
  }

  /** The requests that passed the checks, in order. */
  ledger(): readonly AnthropicLedgerRow[] {
    return this.#ledger
  }

  handle({ method, path, headers, body: text }: SimulatedRequest): SimulatedReply {
    if (headers['x-api-key'] !== this.#key) return errorReply(401, 'authentication-error')
    if (headers['anthropic-version'] === undefined) return invalid('anthropic-version: header is required')
    if (method === 'GET' && path === '/v1/models') return jsonReply({ data: [], has_more: false })
    if (method !== 'POST' || path !== '/v1/messages') return errorReply(404, 'not-found')
    const body = JSON.parse(text) as JsonObject
    const problem = problemOf(body)
    if (problem !== undefined) return invalid(problem)
    this.#ledger.push({ headers, text, body })
    const behavior = this.#script.shift() ?? {}
    if ('error' in behavior) return errorReply(behavior.status, behavior.error, behavior.headers)
    this.#messages += 1
    const content = behavior.content ?? contentFor(body)
    const message = {
      id: `msg_${this.#messages}`,
      type: 'message',
      role: 'assistant',
      model: body['model'],
      content,
      stop_reason:
        behavior.stopReason ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'),
      stop_sequence: null,
      usage: { ...DEFAULT_USAGE, ...behavior.usage },
    }
    if (body['stream'] !== true) return jsonReply(message)
    const events = eventsOf(message)
    const { breakAfter = events.length, breakWith, pauseMs = 0 } = behavior
    const sent = events.slice(0, breakAfter)
    if (breakWith === 'error') sent.push(event('error', JSON.parse(fixture('overloaded-error'))))
    const end = breakWith === 'reset' || breakWith === 'silence' ? breakWith : 'whole'
    return { send: 'events', events: sent, pauseMs, end }
  }
}

/** The checks of the real server that matter to a gateway. */
function problemOf(body: JsonObject): string | undefined {
  const { model, max_tokens: maxTokens, messages, thinking } = body
  if (typeof model !== 'string') return 'model: Field required'
  if (!Number.isInteger(maxTokens) || (maxTokens as number) < 1) return 'max_tokens: Field required'
  if (!Array.isArray(messages) || messages.length === 0) return 'messages: at least one message is required'
  for (const field of ['n', 'max_completion_tokens', 'stream_options', 'messages_stream'])
    if (field in body) return `${field}: Extra inputs are not permitted`
  const { type, budget_tokens: budget } = (thinking ?? {}) as JsonObject
  if (type === 'enabled' && !((budget as number) >= 1024))
    return 'thinking.budget_tokens: must be at least 1024'
  if (type === 'enabled' && (budget as number) >= (maxTokens as number))
    return '`max_tokens` must be greater than `thinking.budget_tokens`'
  return undefined
}

/** Thinking where it was asked for, a citation where there is a document, and a call where there is a tool. */
function contentFor({ thinking, messages, tools }: JsonObject): readonly Block[] {
  const blocks: Block[] = []
  if ((thinking as JsonObject | undefined)?.['type'] === 'enabled')
    blocks.push({ type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmVk' })
  const document = JSON.stringify(messages).includes('"type":"document"')
  const citation = {
    type: 'char_location',
    cited_text: 'The sky is green.',
    document_index: 0,
    document_title: 'Sky',
    start_char_index: 0,
    end_char_index: 17,
    file_id: null,
  }
  blocks.push(
    document
      ? { type: 'text', text: 'It says the sky is green.', citations: [citation] }
      : { type: 'text', text: 'Hello, world.', citations: null },
  )
  const tool = Array.isArray(tools) ? (tools[0] as JsonObject | undefined) : undefined
  if (tool?.['input_schema'] !== undefined)
    blocks.push({ type: 'tool_use', id: 'toolu_1', name: tool['name'], input: { city: 'Oslo' } })
  return blocks
}

type Message = JsonObject & { readonly content: readonly Block[]; readonly usage: JsonObject }

/** The events of a message in the order and form of the real server. */
function eventsOf({ content, stop_reason, stop_sequence, usage, ...message }: Message): string[] {
  const { output_tokens: outputTokens, server_tool_use: serverToolUse, iterations, ...inputUsage } = usage
  const started = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputUsage, output_tokens: 1 },
  }
  const events = [event('message_start', { message: started })]
  for (const [index, block] of content.entries()) {
    const [start, deltas] = partsOf(block)
    events.push(event('content_block_start', { index, content_block: start }))
    if (index === 0) events.push(event('ping', {}))
    for (const delta of deltas) events.push(event('content_block_delta', { index, delta }))
    events.push(event('content_block_stop', { index }))
  }
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = inputUsage
  const counts = { input_tokens, cache_creation_input_tokens, cache_read_input_tokens }
  events.push(
    event('message_delta', {
      delta: { stop_reason, stop_sequence },
      usage: {
        ...counts,
        output_tokens: outputTokens,
        ...(serverToolUse === undefined ? {} : { server_tool_use: serverToolUse }),
        ...(iterations === undefined ? {} : { iterations }),
      },
    }),
  )
  return [...events, event('message_stop', {})]
}

function partsOf(block: Block): readonly [JsonObject, readonly JsonObject[]] {
  const { text, thinking, signature, citations, input, ...rest } = block
  switch (block.type) {
    case 'text':
      return [
        { ...rest, text: '', ...(Array.isArray(citations) ? { citations: [] } : {}) },
        [
          ...halves(text as string).map(part => ({ type: 'text_delta', text: part })),
          ...((citations ?? []) as JsonObject[]).map(citation => ({ type: 'citations_delta', citation })),
        ],
      ]
    case 'thinking':
      return [
        { ...rest, thinking: '', signature: '' },
        [
          ...halves(thinking as string).map(part => ({ type: 'thinking_delta', thinking: part })),
          { type: 'signature_delta', signature },
        ],
      ]
    case 'tool_use':
    case 'server_tool_use':
      return [
        { ...rest, input: {} },
        ['', ...halves(JSON.stringify(input))].map(part => ({
          type: 'input_json_delta',
          partial_json: part,
        })),
      ]
    default:
      return [block, []]
  }
}

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

function event(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

function invalid(message: string): SimulatedReply {
  const error = { type: 'invalid_request_error', message }
  return jsonReply({ type: 'error', error, request_id: 'req_011' }, 400)
}

function errorReply(
  status: number,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): SimulatedReply {
  return jsonReply(JSON.parse(fixture(name)), status, headers)
}
