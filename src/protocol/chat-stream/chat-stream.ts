import type { GatewayError } from '../../domain/errors.ts'
import { joinBytes } from '../join-bytes.ts'
import { byteText } from '../json/byte-text.ts'
import { splice } from '../json/splice.ts'
import { modelAndCostEdits, type ModelAndCost } from '../reply-edits.ts'
import { NO_SECRETS, type UpstreamSecrets } from '../scrub.ts'
import { BLANK_LINE, dataInPlace, readFrame } from '../sse/frame.ts'
import { FrameSplitter, type Frame } from '../sse/frame-splitter.ts'
import { scrubErrorFrame } from '../sse/scrub-error-frame.ts'
import type { StreamCharge, StreamReading, TextStream, UsageLimits } from '../text-dialect.ts'
import { readChunk, type ChatChunk } from './chunk.ts'
import { deltaPattern, type DeltaPattern } from './delta-pattern.ts'
import { DeferredTail } from './deferred-tail.ts'
import { chatErrorFrame, usageFrame, type ChunkIdentity } from './made-frames.ts'
import { ChatMeter } from './meter.ts'

type Bytes = Uint8Array<ArrayBuffer>

export type ChatStreamMode = {
  /** The choices asked for: the request's `n`. */
  readonly choices: number
  readonly limits: UsageLimits
  /**
   * With `include_usage`: the model's name in the catalog. Every chunk then bears it, and the last usage frame its cost. Null
   * relays byte for byte.
   */
  readonly rewriteModel: string | null
  /** What an error of the upstream's must not tell. */
  readonly secrets?: UpstreamSecrets
}

const DONE = '[DONE]'
/** In a stream that has shown no pattern for so long none is looked for any more. */
const MISFITS_MAX = 16
/** The usage of a held frame: a cost that it named itself was taken out when it was held. */
const NO_COST_OF_THEIRS = {}

/**
 * One chat stream on its way from the upstream to the client: bytes in, bytes out, metered as they pass.
 *
 *     feed, feed, … until isDone or the upstream's end → end → reading → the charge becomes durable → finish
 *
 * What may be the end is held back until `finish`, so that neither the cost nor the last frame leaves before the charge: the
 * frame after which every choice is finished, a usage frame without choices, and `[DONE]`. When more output follows, it was
 * not the end, and is let go. Half frames stay here until they are whole: they are nothing to a client, and one that breaks
 * off would be read together with the error that follows, as garbage. And frames that no chunk can be read of wait for the
 * first that is one, so that another upstream may still be asked where none comes.
 */
export class ChatStream implements TextStream {
  /** Null where the stream goes byte for byte. */
  readonly #model: string | null
  readonly #secrets: UpstreamSecrets
  readonly #splitter = new FrameSplitter()
  readonly #meter: ChatMeter
  readonly #tail = new DeferredTail()
  #identity: ChunkIdentity | undefined
  /** Of the last chunk that only added to a text. */
  #pattern: DeltaPattern | undefined
  /** Chunks in a row that fitted no pattern. */
  #misfits = 0
  #isDone = false
  #hasSentError = false
  /** A chunk could be read. Until then nothing shows that this is a chat stream at all. */
  #hasBegun = false
  /** What was let go or is held ends inside a frame, and the next one needs a blank line first. */
  #isFrameOpen = false

  constructor({ choices, limits, rewriteModel, secrets = NO_SECRETS }: ChatStreamMode) {
    this.#secrets = secrets
    this.#model = rewriteModel
    this.#meter = new ChatMeter(choices, limits)
  }

  /** True once `[DONE]` has come. What the upstream sends after it goes out behind it. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** What was read so far, held frames included; half frames are not. */
  reading(): StreamReading {
    return this.#meter.reading()
  }

  /** Takes what the upstream sent; gives what may leave now, which may be nothing. `chunk` must not change later. */
  feed(chunk: Bytes): Bytes {
    // Nearly every read is one frame, and nearly every frame is like the one before.
    const alike = this.#splitter.isBetweenFrames ? this.#takeAlike(chunk) : undefined
    if (alike !== undefined) return alike
    const out: Bytes[] = []
    for (const frame of this.#splitter.split(chunk)) this.#take(frame, out)
    return joinBytes(out)
  }

  /** The upstream's stream is over, well or not. Gives what may leave of a last frame that has no blank line. */
  end(): Bytes {
    const out: Bytes[] = []
    const wasDone = this.#isDone
    const isMidFrame = this.#splitter.isMidFrame
    const rest = this.#splitter.rest()
    if (rest.length > 0 && !isEntire(rest) && !wasDone) return joinBytes(out)
    if (rest.length > 0) this.#take({ bytes: rest, isWhole: true }, out)
    this.#isFrameOpen = isMidFrame && !this.#isDone
    return joinBytes(out)
  }

  /**
   * The last bytes, to be sent when the charge is durable; the end of the stream follows them. `charge` is null where there
   * was none. `failure` is what the client is told of a stream that did not end well, or that could not be charged: it gets
   * no `[DONE]` then, and an error that the upstream has already told is not told again.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes {
    const carriesUsage = this.#tail.firstCarriesUsage
    const { beforeDone, done } = this.#tail.take()
    const out = beforeDone
    const model = this.#model
    if (model !== null && charge !== null && charge.cost !== null) {
      const { cost, usage } = charge
      if (carriesUsage) out[0] = withModelAndCost(out[0] as Bytes, NO_COST_OF_THEIRS, { model, cost })
      else if (failure === null) this.#add(usageFrame(this.#identity ?? {}, { model, usage, cost }), out)
    }
    if (failure === null) out.push(...done)
    else if (!this.#hasSentError) this.#add(chatErrorFrame(failure), out)
    return joinBytes(out)
  }

  #take(frame: Frame, out: Bytes[]): void {
    if (this.#isDone) {
      // More than fits is no part of any answer.
      this.#tail.append(frame.bytes)
      return
    }
    if (!frame.isWhole) {
      this.#letGo(frame.bytes, out)
      return
    }
    const alike = this.#takeAlike(frame.bytes)
    if (alike !== undefined) {
      out.push(alike)
      return
    }
    const { name, data } = readFrame(frame.bytes)
    if (name === 'error') this.#meter.takeError()
    const bytes = name === 'error' ? scrubErrorFrame(frame.bytes, this.#secrets) : frame.bytes
    if (data === undefined) this.#pass(bytes, out)
    else if (data.startsWith(DONE)) this.#takeDone(bytes, out)
    else this.#takeData(bytes, readChunk(data), out)
  }

  /**
   * Takes a whole frame that is like an earlier one but for its text: all else that it says has been said, and it leaves at
   * once, as the client is to see it. Undefined for bytes that are anything else.
   */
  #takeAlike(bytes: Bytes): Bytes | undefined {
    const pattern = this.#pattern
    if (pattern === undefined || this.#isDone || !this.#tail.isEmpty || this.#meter.allFinished)
      return undefined
    const { frame, outputChannel } = pattern
    if (!frame.matches(bytes)) return undefined
    if (frame.isPlain) this.#meter.takePlain(outputChannel, bytes, frame.textStart, frame.textEnd)
    else {
      const text = frame.text(bytes)
      if (text === undefined) return undefined
      this.#meter.takeText(outputChannel, text)
    }
    this.#misfits = 0
    return frame.edited(bytes)
  }

  #takeDone(frame: Bytes, out: Bytes[]): void {
    this.#isDone = true
    this.#meter.takeDone()
    if (!this.#tail.firstCarriesUsage) this.#release(out)
    this.#tail.appendDone(frame)
  }

  #takeData(frame: Bytes, chunk: ChatChunk | undefined, out: Bytes[]): void {
    if (chunk === undefined) {
      if (this.#hasBegun || !this.#tail.isEmpty) this.#pass(frame, out)
      else this.#tail.begin(frame, false)
      return
    }
    this.#hasBegun = true
    this.#meter.take(chunk, frame)
    const bytes = this.#shown(frame, chunk)
    if (chunk.isError) {
      this.#hasSentError = true
      this.#letGo(scrubErrorFrame(bytes, this.#secrets), out)
      return
    }
    const hasUsage = chunk.usage !== undefined
    const hasChoices = chunk.choices.length > 0
    // Some upstreams open with a chunk that has no choices and an empty id.
    if (hasChoices) this.#identity ??= { id: chunk.value['id'], created: chunk.value['created'] }
    if (!hasUsage && !hasChoices) this.#pass(bytes, out)
    else if (this.#meter.allFinished || !hasChoices) {
      this.#release(out)
      this.#tail.begin(bytes, hasUsage && this.#model !== null)
    } else {
      this.#learn(frame, chunk)
      this.#letGo(bytes, out)
    }
  }

  #learn(frame: Bytes, chunk: ChatChunk): void {
    if (this.#misfits === MISFITS_MAX) return
    this.#misfits += 1
    const pattern = deltaPattern(frame, chunk, this.#model)
    if (pattern !== undefined && this.#meter.meters(pattern.choice)) this.#pattern = pattern
  }

  /** The frame as the client is to see it before its cost is known. */
  #shown(frame: Bytes, { value, usage }: ChatChunk): Bytes {
    const model = this.#model
    if (model === null) return frame
    // The upstream's own cost would otherwise stand beside ours, or in a chunk that is not to carry any.
    const hasTheirs = usage?.['cost_usd'] !== undefined
    const isChunk = Array.isArray(value['choices']) || value['model'] !== undefined
    if (!hasTheirs && (!isChunk || value['model'] === model)) return frame
    return withModelAndCost(frame, hasTheirs ? usage : undefined, { model, cost: null })
  }

  /** A frame that says nothing about the end: it keeps its place behind what is held. */
  #pass(frame: Bytes, out: Bytes[]): void {
    if (this.#tail.isEmpty || !this.#tail.append(frame)) this.#letGo(frame, out)
  }

  /** A frame that cannot be the last: nor was what came before it. */
  #letGo(frame: Bytes, out: Bytes[]): void {
    this.#release(out)
    out.push(frame)
  }

  #release(out: Bytes[]): void {
    if (!this.#tail.isEmpty) out.push(...this.#tail.take().beforeDone)
  }

  /** Adds a frame made here, on a line of its own. */
  #add(frame: Bytes, out: Bytes[]): void {
    if (this.#isFrameOpen) out.push(BLANK_LINE)
    this.#isFrameOpen = false
    out.push(frame)
  }
}

/** Worth passing on although its blank line never came: nothing of it is missing. */
function isEntire(frame: Bytes): boolean {
  const { data } = readFrame(frame)
  return data === undefined || data.startsWith(DONE) || readChunk(data) !== undefined
}

/** As a reply's, where the object may be spread over several data lines. */
function withModelAndCost(frame: Bytes, usage: object | undefined, shown: ModelAndCost): Bytes {
  return splice(frame, modelAndCostEdits({ text: byteText(dataInPlace(frame)), usage }, shown))
}
