import type { ChatChunk } from './chunk.ts'
import { deltaPattern, type DeltaPattern } from './delta-pattern.ts'
import type { ChatMeter } from './meter.ts'
import type { Bytes } from '../../domain/bytes.ts'

/** After this many parsed frames in a row, the stream is no longer searched for a pattern. */
const MISSES_MAX = 16

/** Meters the frames of a stream that differ from an earlier one only in their text, without parsing them. */
export class DeltaMatcher {
  readonly #meter: ChatMeter
  readonly #model: string | null
  /** Of the last parsed chunk that only added to a text. */
  #pattern: DeltaPattern | undefined
  #misses = 0

  /** `model` replaces the upstream's name in matching frames; null leaves them unchanged. */
  constructor(meter: ChatMeter, model: string | null) {
    this.#meter = meter
    this.#model = model
  }

  /** Meters a frame that matches the pattern, and returns it as the client gets it. Undefined for any other bytes. */
  take(bytes: Bytes): Bytes | undefined {
    if (this.#pattern === undefined) return undefined
    const { frame, outputChannel } = this.#pattern
    if (!frame.matches(bytes)) return undefined
    if (frame.isPlain) this.#meter.takePlain(outputChannel, bytes, frame.textStart, frame.textEnd)
    else {
      const text = frame.text(bytes)
      if (text === undefined) return undefined
      this.#meter.takeText(outputChannel, text)
    }
    this.#misses = 0
    return frame.edited(bytes)
  }

  /** Makes a pattern from a parsed frame, if the frame is of a kind that can repeat. */
  learn(frame: Bytes, chunk: ChatChunk): void {
    if (this.#misses === MISSES_MAX) return
    this.#misses += 1
    const pattern = deltaPattern(frame, chunk, this.#model)
    if (pattern !== undefined && this.#meter.meters(pattern.choice)) this.#pattern = pattern
  }
}
