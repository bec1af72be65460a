import type { GatewayError } from '../../domain/errors.ts'
import type { NanoUsd } from '../../domain/money.ts'
import { DeferredTail } from '../chat-stream/deferred-tail.ts'
import { joinBytes, type Bytes } from '../../domain/bytes.ts'
import { byteText, lastNamed, splice } from '../json/json-text.ts'
import { isJsonObject } from '../json/parse-json.ts'
import { messagesErrorFrame, MESSAGE_STOP, PING, PING_AFTER_MS } from '../messages/event-frames.ts'
import { modelAndCostEdits, usageCostEdits } from '../pass-through.ts'
import { NO_SECRETS, type UpstreamSecrets } from '../scrub.ts'
import { BLANK_LINE, dataInPlace, readFrame } from '../sse/frame.ts'
import { FrameSplitter, type Frame } from '../sse/frame-splitter.ts'
import { scrubErrorFrame } from '../sse/scrub-error-frame.ts'
import type { Heartbeat, StreamCharge, StreamReading, StreamTerms, TextStream } from '../text-dialect.ts'
import { isErrorEvent, objectIn, readMessagesEvent, type MessagesEvent } from './event.ts'
import { MessagesMeter } from './meter.ts'

const NOTHING: Bytes = new Uint8Array()

/** The most that is kept of an event: the results of the provider's own tools come in one event each. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024

/**
 * A messages stream from the upstream to the client. `TextStream` has the order of the calls.
 *
 * Every event passes through as it comes. `message_start` gets the catalog's name of the model. `message_delta`, which
 * has the usage, and what follows it are deferred until `finish`, where the usage gets the cost. If more content
 * follows, they were not the end and are sent.
 */
export class NativeMessagesStream implements TextStream {
  readonly #model: string
  readonly #secrets: UpstreamSecrets
  readonly heartbeat: Heartbeat = {
    afterMs: PING_AFTER_MS,
    mayComeFirst: true,
    bytes: () => (this.#isInsideFrame ? NOTHING : PING),
  }
  readonly #splitter = new FrameSplitter(FRAME_BYTES_MAX)
  readonly #meter: MessagesMeter
  readonly #tail = new DeferredTail()
  #isDone = false
  #hasSentError = false
  /** The last piece of a frame that is too large to keep has not come. */
  #isInsideFrame = false
  /** An event has been read. Until then, frames are kept, so that failover is still possible if none comes. */
  #hasBegun = false
  /** The bytes so far end inside a frame, so the next frame needs a blank line first. */
  #isFrameOpen = false

  constructor({ limits, model, secrets = NO_SECRETS }: StreamTerms) {
    this.#model = model
    this.#secrets = secrets
    this.#meter = new MessagesMeter(limits)
  }

  /** True once `message_stop` has come. Later bytes of the upstream are sent after it. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** The facts that have been read so far, including deferred frames but not incomplete ones. */
  reading(): StreamReading {
    return this.#meter.reading()
  }

  feed(chunk: Bytes): Bytes {
    const out: Bytes[] = []
    for (const frame of this.#splitter.split(chunk)) this.#take(frame, out)
    return joinBytes(out)
  }

  end(): Bytes {
    const out: Bytes[] = []
    const isMidFrame = this.#splitter.isMidFrame
    const rest = this.#splitter.rest()
    if (rest.length === 0) return joinBytes(out)
    if (readMessagesEvent(readFrame(rest)) === undefined && !this.#isDone) return joinBytes(out)
    this.#take({ bytes: rest, isWhole: true }, out)
    this.#isFrameOpen = isMidFrame
    return joinBytes(out)
  }

  /**
   * Returns the deferred frames with the cost and, after a failure, an error event instead of `message_stop`. `failure`
   * is the error of a stream that did not end well, or that could not be charged. It is not sent if the upstream's own
   * error has been sent.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes {
    const carriesUsage = this.#tail.firstCarriesUsage
    const { beforeDone, done } = this.#tail.take()
    const out = beforeDone
    const cost = charge?.cost ?? null
    if (carriesUsage && cost !== null) out[0] = withCost(out[0] as Bytes, cost)
    if (failure === null && done.length > 0) out.push(...done)
    else if (failure === null) this.#add(MESSAGE_STOP, out)
    else if (!this.#hasSentError) this.#add(messagesErrorFrame(failure), out)
    return joinBytes(out)
  }

  #take({ bytes, isWhole }: Frame, out: Bytes[]): void {
    if (this.#isDone) {
      // Bytes that do not fit are not part of an answer and are dropped.
      this.#tail.append(bytes)
      return
    }
    this.#isInsideFrame = !isWhole && this.#splitter.isMidFrame
    if (!isWhole) return this.#tail.send(bytes, out)
    const frame = readFrame(bytes)
    const event = readMessagesEvent(frame)
    if (event !== undefined) this.#takeEvent(bytes, event, out)
    else if (frame.name === 'error') {
      this.#meter.take({ type: 'error', value: {} }, '')
      this.#sendError(bytes, out)
    } else if (this.#hasBegun) this.#tail.sendInOrder(bytes, out)
    else if (!this.#tail.append(bytes)) this.#tail.send(bytes, out)
  }

  #takeEvent(bytes: Bytes, event: MessagesEvent, out: Bytes[]): void {
    const json = byteText(dataInPlace(bytes))
    this.#meter.take(event, json)
    if (isErrorEvent(event)) return this.#sendError(bytes, out)
    const { type, value } = event
    if (type === 'ping') {
      if (this.#hasBegun) this.#tail.sendInOrder(bytes, out)
      else this.#tail.append(bytes)
      return
    }
    this.#hasBegun = true
    if (type === 'message_start') this.#tail.send(this.#renamed(bytes, json, value), out)
    else if (type === 'message_delta') {
      this.#tail.flush(out)
      const { usage } = value
      this.#tail.begin(withoutCost(bytes, json, usage), isJsonObject(usage))
    } else if (type === 'message_stop') {
      this.#isDone = true
      if (!this.#tail.firstCarriesUsage) this.#tail.flush(out)
      this.#tail.appendDone(bytes)
    } else this.#tail.send(bytes, out)
  }

  /** Also removes the upstream's own cost, which is not what the client pays. */
  #renamed(bytes: Bytes, json: string, value: MessagesEvent['value']): Bytes {
    const message = lastNamed(json, 'message')
    if (message === undefined) return bytes
    const { usage } = objectIn(value, 'message')
    const reply = { text: json, usage, start: message.start }
    return splice(bytes, modelAndCostEdits(reply, { model: this.#model, cost: null }))
  }

  #sendError(bytes: Bytes, out: Bytes[]): void {
    this.#hasSentError = true
    this.#tail.send(scrubErrorFrame(bytes, this.#secrets), out)
  }

  /** Adds a frame made here, after a blank line if a frame is open. */
  #add(frame: Bytes, out: Bytes[]): void {
    if (this.#isFrameOpen) out.push(BLANK_LINE)
    this.#isFrameOpen = false
    out.push(frame)
  }
}

function withoutCost(frame: Bytes, json: string, usage: unknown): Bytes {
  return splice(frame, usageCostEdits({ text: json, usage }, null))
}

/** The frame's own cost was removed when it was deferred. */
function withCost(frame: Bytes, cost: NanoUsd): Bytes {
  return splice(frame, usageCostEdits({ text: byteText(dataInPlace(frame)), usage: {} }, cost))
}
