import type { GatewayError } from '../../domain/errors.ts'
import { formatUsd, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import { joinBytes, type Bytes } from '../../domain/bytes.ts'
import { byteText, splice } from '../json/json-text.ts'
import { modelAndCostEdits, type ModelAndCost } from '../pass-through.ts'
import { NO_SECRETS, type UpstreamSecrets } from '../scrub.ts'
import { FrameSplitter, type Frame } from '../sse/frame-splitter.ts'
import { BLANK_LINE, dataFrame, dataInPlace, readFrame } from '../sse/frame.ts'
import { commentHeartbeat } from '../sse/heartbeat.ts'
import { scrubErrorFrame } from '../sse/scrub-error-frame.ts'
import type { Heartbeat, StreamCharge, StreamReading, TextStream, UsageLimits } from '../text-dialect.ts'
import { readChunk, type ChatChunk } from './chunk.ts'
import { DeferredTail } from './deferred-tail.ts'
import { DeltaMatcher } from './delta-matcher.ts'
import { ChatMeter } from './meter.ts'

export type ChatStreamMode = {
  /** The number of choices in the request (`n`). */
  readonly choices: number
  readonly limits: UsageLimits
  /**
   * With `include_usage`: the model's name in the catalog. It replaces the name in every chunk, and the last usage
   * frame gets the cost. Null relays the stream byte for byte.
   */
  readonly rewriteModel: string | null
  /** Drops usage frames without choices, which the client did not ask for. Their usage is counted. */
  readonly hidesUsage?: boolean
  /** Sends comment lines during silences. */
  readonly hasHeartbeats?: boolean
  /** The names that are removed from errors of the upstream. */
  readonly secrets?: UpstreamSecrets
}

const DONE = '[DONE]'
/** The usage of a deferred usage frame: its own cost was removed when the frame was deferred. */
const USAGE_WITHOUT_COST = {}

/**
 * A chat stream from the upstream to the client. `TextStream` has the order of the calls.
 *
 * Frames that may be the end are deferred until `finish`, so that neither the cost nor the last frame is sent before
 * the charge is durable: the frame after which every choice is finished, a usage frame without choices, and `[DONE]`.
 * When more output follows, the deferred frames were not the end and are sent.
 *
 * An incomplete frame is kept until it is complete. A client cannot use it, and would read a frame that breaks off
 * together with the error after it. Frames without a readable chunk are kept until the first readable one, so that
 * failover is still possible if none comes.
 */
export class ChatStream implements TextStream {
  readonly heartbeat?: Heartbeat
  /** Null when the stream is relayed byte for byte. */
  readonly #model: string | null
  readonly #secrets: UpstreamSecrets
  readonly #hidesUsage: boolean
  readonly #splitter = new FrameSplitter()
  readonly #meter: ChatMeter
  readonly #matcher: DeltaMatcher
  readonly #tail = new DeferredTail()
  #identity: ChunkIdentity | undefined
  #isDone = false
  #hasSentError = false
  /** The last piece of a frame that is too large to keep has not come. */
  #isInsideFrame = false
  /** A chunk has been read. Until then, this may not be a chat stream at all. */
  #hasBegun = false
  /** The bytes so far end inside a frame, so the next frame needs a blank line first. */
  #isFrameOpen = false

  constructor({
    choices,
    limits,
    rewriteModel,
    hidesUsage = false,
    hasHeartbeats = rewriteModel !== null,
    secrets = NO_SECRETS,
  }: ChatStreamMode) {
    this.#hidesUsage = hidesUsage
    this.#secrets = secrets
    this.#model = rewriteModel
    if (hasHeartbeats) this.heartbeat = commentHeartbeat(() => this.#isInsideFrame)
    this.#meter = new ChatMeter(choices, limits)
    this.#matcher = new DeltaMatcher(this.#meter, rewriteModel)
  }

  /** True once `[DONE]` has come. Later bytes of the upstream are sent after it. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** The facts that have been read so far, including deferred frames but not incomplete ones. */
  reading(): StreamReading {
    return this.#meter.reading()
  }

  feed(chunk: Bytes): Bytes {
    // Nearly every read is one frame, and nearly every frame matches the one before.
    const matching = this.#splitter.isBetweenFrames ? this.#takeMatching(chunk) : undefined
    if (matching !== undefined) return matching
    const out: Bytes[] = []
    for (const frame of this.#splitter.split(chunk)) this.#take(frame, out)
    return joinBytes(out)
  }

  end(): Bytes {
    const out: Bytes[] = []
    const wasDone = this.#isDone
    const isMidFrame = this.#splitter.isMidFrame
    const rest = this.#splitter.rest()
    if (rest.length > 0 && !isComplete(rest) && !wasDone) return joinBytes(out)
    if (rest.length > 0) this.#take({ bytes: rest, isWhole: true }, out)
    this.#isFrameOpen = isMidFrame && !this.#isDone
    return joinBytes(out)
  }

  /**
   * Returns the deferred frames with the cost and `[DONE]` or, after a failure, an error frame instead. `failure` is
   * the error of a stream that did not end well, or that could not be charged. It is not sent if the upstream's own
   * error has been sent.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes {
    const carriesUsage = this.#tail.firstCarriesUsage
    const { beforeDone, done } = this.#tail.take()
    const out = beforeDone
    const model = this.#model
    if (model !== null && charge !== null && charge.cost !== null) {
      const { cost, usage } = charge
      if (carriesUsage) out[0] = withModelAndCost(out[0] as Bytes, USAGE_WITHOUT_COST, { model, cost })
      else if (failure === null) this.#add(usageFrame(this.#identity ?? {}, { model, usage, cost }), out)
    }
    // With `include_usage`, clients wait for `[DONE]`, which some upstreams leave out.
    if (failure === null && model !== null && !this.#isDone) this.#add(dataFrame(DONE), out)
    if (failure === null) out.push(...done)
    else if (!this.#hasSentError) this.#add(chatErrorFrame(failure), out)
    return joinBytes(out)
  }

  #take(frame: Frame, out: Bytes[]): void {
    if (this.#isDone) {
      // Bytes that do not fit are not part of an answer and are dropped.
      this.#tail.append(frame.bytes)
      return
    }
    this.#isInsideFrame = !frame.isWhole && this.#splitter.isMidFrame
    if (!frame.isWhole) {
      this.#tail.send(frame.bytes, out)
      return
    }
    const matching = this.#takeMatching(frame.bytes)
    if (matching !== undefined) {
      out.push(matching)
      return
    }
    const { name, data } = readFrame(frame.bytes)
    if (name === 'error') this.#meter.takeError()
    const bytes = name === 'error' ? scrubErrorFrame(frame.bytes, this.#secrets) : frame.bytes
    if (data === undefined) this.#tail.sendInOrder(bytes, out)
    else if (data.startsWith(DONE)) this.#takeDone(bytes, out)
    else this.#takeData(bytes, readChunk(data), out)
  }

  /**
   * Takes a frame that differs from an earlier one only in its text, and is sent at once. Undefined for any other
   * bytes.
   */
  #takeMatching(bytes: Bytes): Bytes | undefined {
    if (this.#isDone || !this.#tail.isEmpty || this.#meter.allFinished) return undefined
    return this.#matcher.take(bytes)
  }

  #takeDone(frame: Bytes, out: Bytes[]): void {
    this.#isDone = true
    this.#meter.takeDone()
    if (!this.#tail.firstCarriesUsage) this.#tail.flush(out)
    this.#tail.appendDone(frame)
  }

  #takeData(frame: Bytes, chunk: ChatChunk | undefined, out: Bytes[]): void {
    if (chunk === undefined) {
      if (this.#hasBegun || !this.#tail.isEmpty) this.#tail.sendInOrder(frame, out)
      else this.#tail.begin(frame, false)
      return
    }
    this.#hasBegun = true
    this.#meter.take(chunk, frame)
    const bytes = this.#rewritten(frame, chunk)
    if (chunk.isError) {
      this.#hasSentError = true
      this.#tail.send(scrubErrorFrame(bytes, this.#secrets), out)
      return
    }
    const hasUsage = chunk.usage !== undefined
    const hasChoices = chunk.choices.length > 0
    if (this.#hidesUsage && hasUsage && !hasChoices) return
    // Some upstreams open with a chunk that has no choices and an empty id.
    if (hasChoices) this.#identity ??= { id: chunk.value['id'], created: chunk.value['created'] }
    if (!hasUsage && !hasChoices) this.#tail.sendInOrder(bytes, out)
    else if (this.#meter.allFinished || !hasChoices) {
      this.#tail.flush(out)
      this.#tail.begin(bytes, hasUsage && this.#model !== null)
    } else {
      this.#matcher.learn(frame, chunk)
      this.#tail.send(bytes, out)
    }
  }

  /** The frame for the client, before its cost is known. */
  #rewritten(frame: Bytes, { value, usage }: ChatChunk): Bytes {
    const model = this.#model
    if (model === null) return frame
    // The upstream's own cost must not appear beside ours, or in a chunk without one.
    const hasUpstreamCost = usage?.['cost_usd'] !== undefined
    const isChunk = Array.isArray(value['choices']) || value['model'] !== undefined
    if (!hasUpstreamCost && (!isChunk || value['model'] === model)) return frame
    return withModelAndCost(frame, hasUpstreamCost ? usage : undefined, { model, cost: null })
  }

  /** Adds a frame made here, after a blank line if a frame is open. */
  #add(frame: Bytes, out: Bytes[]): void {
    if (this.#isFrameOpen) out.push(BLANK_LINE)
    this.#isFrameOpen = false
    out.push(frame)
  }
}

/** Whether a frame without its blank line is otherwise complete, and worth sending. */
function isComplete(frame: Bytes): boolean {
  const { data } = readFrame(frame)
  return data === undefined || data.startsWith(DONE) || readChunk(data) !== undefined
}

/** Edits a frame like a reply. Its object may span several data lines. */
function withModelAndCost(frame: Bytes, usage: object | undefined, shown: ModelAndCost): Bytes {
  return splice(frame, modelAndCostEdits({ text: byteText(dataInPlace(frame)), usage }, shown))
}

/** Members of the stream's own chunks that connect a frame made here with them. */
type ChunkIdentity = { readonly id?: unknown; readonly created?: unknown }

/** The final usage frame of a stream whose upstream sent no usage frame for the cost. */
function usageFrame(
  identity: ChunkIdentity,
  { model, usage, cost }: { readonly model: string; readonly usage: Usage; readonly cost: NanoUsd },
): Bytes {
  const promptTokens = inputTokens(usage)
  const completionTokens = outputTokens(usage)
  return dataFrame(
    JSON.stringify({
      ...identity,
      object: 'chat.completion.chunk',
      model,
      // Clients fail on a usage frame without `choices`.
      choices: [],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        cost_usd: formatUsd(cost),
      },
    }),
  )
}

/** The error frame for a chat stream that broke. No `[DONE]` follows it. */
function chatErrorFrame({ message, type, code }: GatewayError): Bytes {
  return dataFrame(JSON.stringify({ error: { message, type, code, param: null } }))
}
