import type { NanoUsd } from '../../domain/money.ts'
import { ProducedText } from '../chat-stream/produced-text.ts'
import { byteText } from '../json/byte-text.ts'
import { isJsonObject } from '../json/parse-json.ts'
import { findReportedCost } from '../reported-cost.ts'
import { dataInPlace } from '../sse/frame.ts'
import type { StreamReading, UsageLimits } from '../text-dialect.ts'
import { readUsage } from '../usage.ts'
import { isFailure, isTerminal, responseStart, type ResponsesEvent } from './event.ts'
import { outputTexts } from './output-texts.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Items of one response whose texts are kept apart; those of all further ones are kept together. */
const STRANDS_MAX = 64
/** Deltas that carry sound, which no tokenizer counts. */
const soundTypes: ReadonlySet<string> = new Set(['response.audio.delta', 'response.output_audio.delta'])

/** Reads a responses stream along, event by event, in bounded memory. */
export class ResponsesMeter {
  readonly #limits: UsageLimits
  readonly #produced = new ProducedText()
  #outputBegan = false
  #textBegan = false
  #errorSeen = false
  #errorFirst = false
  #hasBegun = false
  #endSeen = false
  #usage: JsonObject | undefined
  #reportedCost: NanoUsd | null = null

  constructor(limits: UsageLimits) {
    this.#limits = limits
  }

  /** `frame` is what the event was read from. */
  take(event: ResponsesEvent, frame: Uint8Array<ArrayBuffer>): void {
    const { value, response } = event
    if (isTerminal(event)) this.#endSeen = true
    if (response !== undefined) this.#takeResponse(response, frame)
    // The text of an error is not output.
    if (isFailure(event)) {
      this.#errorSeen = true
      // An error event is followed by `response.failed`.
      if (!this.#hasBegun) this.#errorFirst = true
    } else if (event.type.endsWith('.delta')) this.#takeDelta(event)
    else if (event.type === 'response.output_item.added') this.#takeItem(value['item'], strandOf(value))
    this.#hasBegun = true
  }

  reading(): StreamReading {
    const reported = readUsage(this.#usage, this.#limits)
    return {
      endedWell: this.#endSeen && !this.#errorSeen,
      outputBegan: this.#outputBegan,
      errorSeen: this.#errorSeen,
      errorFirst: this.#errorFirst,
      usage: reported?.usage ?? null,
      isClamped: reported?.isClamped ?? false,
      reportedCost: this.#reportedCost,
      texts: () => this.#produced.texts(),
      textsScale: this.#produced.scale,
    }
  }

  #takeResponse({ usage, output }: JsonObject, frame: Uint8Array<ArrayBuffer>): void {
    if (isJsonObject(usage)) {
      this.#usage = usage
      if (usage['cost'] !== undefined) {
        const json = byteText(dataInPlace(frame))
        this.#reportedCost = findReportedCost(json.slice(responseStart(json)), usage)
      }
    }
    // Some upstreams send no deltas, only the whole at the end.
    if (!this.#textBegan) for (const text of outputTexts(output)) this.#takeText(text, 0)
  }

  #takeDelta({ type, value }: ResponsesEvent): void {
    const { delta } = value
    if (typeof delta !== 'string' || delta === '') return
    if (soundTypes.has(type)) this.#outputBegan = true
    else this.#takeText(delta, strandOf(value))
  }

  /** A call's name comes with its item, before the deltas of its arguments. */
  #takeItem(item: unknown, strand: number): void {
    if (isJsonObject(item) && typeof item['name'] === 'string') this.#takeText(item['name'], strand)
  }

  #takeText(text: string, strand: number): void {
    this.#outputBegan = true
    this.#textBegan = true
    this.#produced.add(strand, text)
  }
}

function strandOf({ output_index: index }: JsonObject): number {
  return typeof index === 'number' ? Math.min(Math.max(index, 0), STRANDS_MAX) : 0
}
