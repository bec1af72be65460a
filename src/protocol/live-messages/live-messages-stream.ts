import type { GatewayError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { outputTokens } from '../../domain/pricing/usage.ts'
import { readChunk, type ChatChunk } from '../chat-stream/chunk.ts'
import { ChatMeter } from '../chat-stream/meter.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { quotedName } from '../json/json-text.ts'
import { eventText, messagesErrorFrame, PING, PING_AFTER_MS } from '../messages/event-frames.ts'
import { messagesErrorEvent } from '../messages/errors.ts'
import { nameOf, stopReasonOf } from '../messages/message.ts'
import { inputUsageText } from '../messages/reply.ts'
import { NO_SECRETS, type UpstreamSecrets } from '../scrub.ts'
import { readFrame } from '../sse/frame.ts'
import { FrameSplitter } from '../sse/frame-splitter.ts'
import type { Heartbeat, StreamCharge, StreamReading, StreamTerms, TextStream } from '../text-dialect.ts'
import { readUpstreamError } from '../upstream-error.ts'
import { LiveBlocks } from './blocks.ts'
import type { Bytes } from '../../domain/bytes.ts'

const DONE = '[DONE]'
const encoder = new TextEncoder()
const NOTHING: Bytes = new Uint8Array()

/**
 * A chat stream that is converted to the events of a message while it arrives. `TextStream` has the order of the calls.
 *
 * The events have the same content as the synthetic ones. The usage is known only at the end, so `message_start` has an
 * estimate of the input tokens, and `message_delta` has all counts and the cost.
 */
export class LiveMessagesStream implements TextStream {
  readonly #model: string
  readonly #fallbackId: string
  readonly #secrets: UpstreamSecrets
  readonly #inputTokensEstimate: number
  readonly heartbeat: Heartbeat = { afterMs: PING_AFTER_MS, mayComeFirst: true, bytes: () => PING }
  readonly #splitter = new FrameSplitter()
  readonly #meter: ChatMeter
  readonly #blocks = new LiveBlocks(() => this.#id ?? this.#fallbackId)
  #id: string | undefined
  #finishReason: unknown
  #hasStarted = false
  #hasSentError = false
  #isDone = false

  constructor(
    { limits, model, fallback, secrets = NO_SECRETS }: StreamTerms,
    { inputTokensEstimate }: { readonly inputTokensEstimate: number },
  ) {
    this.#model = model
    this.#fallbackId = fallback.id
    this.#secrets = secrets
    this.#inputTokensEstimate = Math.min(inputTokensEstimate, limits.inputTokensMax ?? Infinity)
    this.#meter = new ChatMeter(1, limits)
  }

  get isDone(): boolean {
    return this.#isDone
  }

  reading(): StreamReading {
    return this.#meter.reading()
  }

  feed(chunk: Bytes): Bytes {
    let events = ''
    for (const { bytes, isWhole } of this.#splitter.split(chunk)) {
      if (!isWhole) throw new Error('A frame of a chat stream is too large to be converted.')
      events += this.#take(bytes)
    }
    return events === '' ? NOTHING : encoder.encode(events)
  }

  end(): Bytes {
    const rest = this.#splitter.rest()
    return rest.length === 0 ? NOTHING : encoder.encode(this.#take(rest))
  }

  /** Returns the rest of the message with the usage and the cost or, after a failure, an error event. */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes {
    if (failure !== null) return this.#hasSentError ? NOTHING : messagesErrorFrame(failure)
    const stopReason = stopReasonOf(this.#finishReason, this.#blocks.hasCalls)
    const delta = `"delta":{"stop_reason":"${stopReason}","stop_sequence":null}`
    const events =
      this.#start() +
      this.#blocks.ended() +
      eventText('message_delta', `${delta},"usage":{${usageText(charge)}}`) +
      eventText('message_stop')
    return encoder.encode(events)
  }

  #take(frame: Bytes): string {
    if (this.#isDone) return ''
    const { name, data } = readFrame(frame)
    if (data === undefined) return ''
    if (data.startsWith(DONE)) {
      this.#isDone = true
      this.#meter.takeDone()
      return ''
    }
    const chunk = readChunk(data)
    if (name === 'error' || chunk?.isError === true) return this.#takeError(data)
    if (chunk === undefined) return ''
    this.#meter.take(chunk, frame)
    return this.#takeChunk(chunk)
  }

  #takeChunk({ value, choices: [choice] }: ChatChunk): string {
    // Some upstreams open with a chunk that has no choices and an empty id.
    if (choice === undefined) return ''
    this.#id ??= nameOf(value['id'])
    this.#finishReason = choice['finish_reason'] ?? this.#finishReason
    const { delta } = choice
    if (isJsonObject(delta)) this.#takeDelta(delta)
    return this.#start() + this.#blocks.grown()
  }

  #takeDelta({ content, refusal, tool_calls: calls, function_call: older }: JsonObject): void {
    if (typeof content === 'string') this.#blocks.addText(content)
    for (const part of listOf(content))
      if (typeof part['text'] === 'string') this.#blocks.addText(part['text'])
    if (typeof refusal === 'string') this.#blocks.addText(refusal)
    for (const [position, call] of listOf(calls).entries()) {
      const index = typeof call['index'] === 'number' ? call['index'] : position
      if (isJsonObject(call['function'])) this.#blocks.addCall(index, call['id'], call['function'])
    }
    // The older format of a single call.
    if (isJsonObject(older) && calls === undefined) this.#blocks.addCall(0, undefined, older)
  }

  #takeError(data: string): string {
    this.#meter.takeError()
    this.#hasSentError = true
    return messagesErrorEvent({ error: readUpstreamError(data, 'application/json', this.#secrets) })
  }

  #start(): string {
    if (this.#hasStarted) return ''
    this.#hasStarted = true
    const input = Number.isFinite(this.#inputTokensEstimate) ? this.#inputTokensEstimate : 0
    return eventText(
      'message_start',
      `"message":{"id":${JSON.stringify(this.#id ?? this.#fallbackId)},"type":"message","role":"assistant",` +
        `"model":${quotedName(this.#model)},"content":[],"stop_reason":null,"stop_sequence":null,` +
        `"usage":{"input_tokens":${input},"output_tokens":0}}`,
    )
  }
}

function usageText(charge: StreamCharge | null): string {
  if (charge === null) return '"output_tokens":0'
  const { usage, cost } = charge
  const costUsd = cost === null ? '' : `,"cost_usd":"${formatUsd(cost)}"`
  return `${inputUsageText(usage)},"output_tokens":${outputTokens(usage)}${costUsd}`
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
