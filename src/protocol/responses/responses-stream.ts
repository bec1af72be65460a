import type { GatewayError } from '../../domain/errors.ts'
import type { NanoUsd } from '../../domain/money.ts'
import { joinBytes, type Bytes } from '../../domain/bytes.ts'
import { byteText, splice } from '../json/json-text.ts'
import { modelAndCostEdits } from '../pass-through.ts'
import { NO_SECRETS, type UpstreamSecrets } from '../scrub.ts'
import { BLANK_LINE, dataInPlace, isDataLine, readFrame } from '../sse/frame.ts'
import { FrameSplitter, type Frame } from '../sse/frame-splitter.ts'
import { commentHeartbeat } from '../sse/heartbeat.ts'
import { scrubErrorFrame } from '../sse/scrub-error-frame.ts'
import type { StreamCharge, StreamReading, StreamTerms, TextStream } from '../text-dialect.ts'
import { isFailedEvent, isTerminal, readResponsesEvent, responseStart, type ResponsesEvent } from './event.ts'
import { failedEvent } from './failed-event.ts'
import { ResponsesMeter } from './meter.ts'

/** The most that is kept of an event: one that repeats the whole response may contain images. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024
/** The most that is kept of frames after the end. */
const TRAILING_BYTES_MAX = 64 * 1024
/** The most that is kept of unreadable frames before the first event. */
const UNREAD_BYTES_MAX = 64 * 1024
const DONE = '[DONE]'

/** The event that ends a stream, deferred until the charge is durable. `frame` is a copy, like all frames kept here. */
type End = { readonly frame: Bytes; readonly event: ResponsesEvent; readonly isRewritable: boolean }

/**
 * A responses stream from the upstream to the client. `TextStream` has the order of the calls.
 *
 * A frame with an `event:` line passes through unchanged. A frame that starts with `data:` gets the catalog's name of
 * the model and, if it ends the response and has a usage, the cost. The event that ends the stream is deferred until
 * `finish`.
 */
export class ResponsesStream implements TextStream {
  readonly heartbeat = commentHeartbeat(() => this.#isInsideFrame)
  readonly #model: string
  readonly #secrets: UpstreamSecrets
  readonly #splitter = new FrameSplitter(FRAME_BYTES_MAX)
  readonly #meter: ResponsesMeter
  #id: string
  #createdAtS: number
  #sequenceNumber = -1
  #end: End | undefined
  #isDone = false
  /** The last piece of a frame that is too large to keep has not come. */
  #isInsideFrame = false
  /** An event has been read. Until then, this may not be a responses stream at all. */
  #hasBegun = false
  /**
   * Frames without a readable event, kept until the first readable one, so that failover is still possible if none
   * comes.
   */
  #unread: Bytes[] = []
  #unreadLength = 0
  readonly #trailing: Bytes[] = []
  #trailingLength = 0
  /** The bytes so far end inside a frame, so the next frame needs a blank line first. */
  #isFrameOpen = false

  constructor({ limits, model, fallback, secrets = NO_SECRETS }: StreamTerms) {
    this.#secrets = secrets
    this.#model = model
    this.#meter = new ResponsesMeter(limits)
    this.#id = fallback.id
    this.#createdAtS = fallback.createdAtS
  }

  /** True once the response has ended. Later bytes of the upstream are sent after it. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** The facts that have been read so far, including the deferred end but not an incomplete frame. */
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
    const wasDone = this.#isDone
    const isMidFrame = this.#splitter.isMidFrame
    const rest = this.#splitter.rest()
    if (rest.length > 0) {
      if (!isComplete(rest) && !wasDone) return joinBytes(out)
      this.#take({ bytes: rest, isWhole: true }, out)
    }
    this.#isFrameOpen = isMidFrame && !this.#isDone
    return joinBytes(out)
  }

  /**
   * Returns the deferred end with the cost or, after a failure, a failure event. `failure` is the error of a stream
   * that did not end well, or that could not be charged. If the upstream ended the response with its own failure, that
   * event is sent.
   */
  finish(charge: StreamCharge | null, failure: GatewayError | null): Bytes {
    const end = this.#end
    if (failure === null) {
      const out = end === undefined ? [] : [this.#priced(end, charge?.cost ?? null)]
      return joinBytes([...out, ...this.#trailing])
    }
    if (end !== undefined && isFailedEvent(end.event)) return this.#priced(end, charge?.cost ?? null)
    const identity = {
      id: this.#id,
      createdAtS: this.#createdAtS,
      model: this.#model,
      sequenceNumber: this.#sequenceNumber + 1,
    }
    const failed = failedEvent(identity, failure, charge)
    return this.#isFrameOpen ? joinBytes([BLANK_LINE, failed]) : failed
  }

  #take(frame: Frame, out: Bytes[]): void {
    const { bytes } = frame
    this.#isInsideFrame = !frame.isWhole && this.#splitter.isMidFrame
    if (this.#isDone) this.#trail(bytes)
    else if (frame.isWhole) this.#takeWhole(bytes, out)
    else out.push(...this.#takeUnread(), bytes)
  }

  #takeWhole(sent: Bytes, out: Bytes[]): void {
    const read = readFrame(sent)
    const event = readResponsesEvent(read)
    const isError = read.name === 'error' || (event !== undefined && isFailedEvent(event))
    const frame = isError ? scrubErrorFrame(sent, this.#secrets) : sent
    if (event === undefined) {
      this.#isDone = read.data?.startsWith(DONE) === true
      if (!this.#isDone && this.#keepsUnread(frame, read.data === undefined)) return
      out.push(...this.#takeUnread())
      if (this.#isDone) this.#trail(frame)
      else out.push(frame)
      return
    }
    this.#hasBegun = true
    if (this.#unreadLength > 0) out.push(...this.#takeUnread())
    this.#meter.take(event, frame)
    const isRewritable = read.name === '' && isDataLine(frame, 0) && event.response !== undefined
    if (isTerminal(event)) {
      this.#end = { frame: frame.slice(), event, isRewritable }
      this.#isDone = true
      return
    }
    this.#identify(event)
    out.push(isRewritable ? this.#rewritten(frame, event, null) : frame)
  }

  #identify({ value, response }: ResponsesEvent): void {
    const sequenceNumber = value['sequence_number']
    this.#sequenceNumber = typeof sequenceNumber === 'number' ? sequenceNumber : this.#sequenceNumber + 1
    if (response === undefined) return
    const { id, created_at: createdAtS } = response
    if (typeof id === 'string') this.#id = id
    if (typeof createdAtS === 'number') this.#createdAtS = createdAtS
  }

  #priced({ frame, event, isRewritable }: End, cost: NanoUsd | null): Bytes {
    return isRewritable ? this.#rewritten(frame, event, cost) : frame
  }

  /** Always removes the upstream's own cost, which is not what the client pays. */
  #rewritten(frame: Bytes, { response }: ResponsesEvent, cost: NanoUsd | null): Bytes {
    const json = byteText(dataInPlace(frame))
    const reply = { text: json, usage: response?.['usage'], start: responseStart(json) }
    return splice(frame, modelAndCostEdits(reply, { model: this.#model, cost }))
  }

  /** False after the first event, when there is no room, and for a heartbeat when no frames are kept. */
  #keepsUnread(frame: Bytes, isHeartbeat: boolean): boolean {
    if (this.#hasBegun || (isHeartbeat && this.#unreadLength === 0)) return false
    if (this.#unreadLength + frame.length > UNREAD_BYTES_MAX) return false
    this.#unread.push(frame.slice())
    this.#unreadLength += frame.length
    return true
  }

  #takeUnread(): Bytes[] {
    const unread = this.#unread
    this.#unread = []
    this.#unreadLength = 0
    return unread
  }

  /** Keeps a frame after the end. Bytes that do not fit are not part of an answer and are dropped. */
  #trail(frame: Bytes): void {
    if (this.#trailingLength + frame.length > TRAILING_BYTES_MAX) return
    this.#trailing.push(frame.slice())
    this.#trailingLength += frame.length
  }
}

/** Whether a frame without its blank line is otherwise complete, and worth sending. */
function isComplete(frame: Bytes): boolean {
  const read = readFrame(frame)
  return read.data === undefined || read.data.startsWith(DONE) || readResponsesEvent(read) !== undefined
}
