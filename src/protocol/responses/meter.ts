import type { Bytes } from '../../domain/bytes.ts'
import { callsIn, isFileSearch, isSearchCall } from '../usage.ts'
import { byteText } from '../json/json-text.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { dataInPlace } from '../sse/frame.ts'
import { StreamTally } from '../stream-tally.ts'
import type { StreamReading, UsageLimits } from '../text-dialect.ts'
import { isFailedEvent, isTerminal, responseStart, type ResponsesEvent } from './event.ts'
import { outputTexts } from './output-texts.ts'

/**
 * The number of items in one response whose texts are kept separately. The texts of all further items are kept
 * together.
 */
const CHANNELS_MAX = 64
/** Deltas with audio, which a tokenizer cannot count. */
const soundTypes: ReadonlySet<string> = new Set(['response.audio.delta', 'response.output_audio.delta'])

/** Meters a responses stream, event by event, in bounded memory. */
export class ResponsesMeter {
  readonly #tally: StreamTally
  #textBegan = false
  #endSeen = false

  constructor(limits: UsageLimits) {
    this.#tally = new StreamTally(limits)
  }

  /** `frame` is the frame of the event. */
  take(event: ResponsesEvent, frame: Bytes): void {
    const { value, response } = event
    if (isTerminal(event)) this.#endSeen = true
    if (response !== undefined) this.#takeResponse(response, frame)
    // The text of an error is not output.
    if (isFailedEvent(event)) this.#tally.takeError()
    else if (event.type.endsWith('.delta')) this.#takeDelta(event)
    else if (event.type === 'response.output_item.added')
      this.#takeItem(value['item'], outputChannelOf(value))
    else if (event.type === 'response.output_item.done') this.#takeCall(value['item'])
    this.#tally.begin()
  }

  reading(): StreamReading {
    return this.#tally.reading(this.#endSeen)
  }

  #takeResponse(response: JsonObject, frame: Bytes): void {
    const { usage, output, service_tier: tier } = response
    if (typeof tier === 'string') this.#tally.takeServiceTier(tier)
    this.#tally.takeCalls(callsIn(output))
    if (isJsonObject(usage)) {
      this.#tally.takeUsage(usage)
      this.#tally.takeReportedCost(usage, () => {
        const json = byteText(dataInPlace(frame))
        return json.slice(responseStart(json))
      })
    }
    // Some upstreams send no deltas, only the complete response at the end.
    if (!this.#textBegan) for (const text of outputTexts(output)) this.#takeText(text, 0)
  }

  #takeDelta({ type, value }: ResponsesEvent): void {
    const { delta } = value
    if (typeof delta !== 'string' || delta === '') return
    if (soundTypes.has(type)) this.#tally.takeSound()
    else this.#takeText(delta, outputChannelOf(value))
  }

  /** The name of a call comes with its item, before the deltas of its arguments. */
  #takeItem(item: unknown, outputChannel: number): void {
    if (isJsonObject(item) && typeof item['name'] === 'string') this.#takeText(item['name'], outputChannel)
  }

  /** Counts a finished call of a tool. A stream that breaks off has only these events. */
  #takeCall(item: unknown): void {
    if (isSearchCall(item)) this.#tally.takeSearchCall()
    else if (isFileSearch(item)) this.#tally.takeFileSearch()
  }

  #takeText(text: string, outputChannel: number): void {
    this.#textBegan = true
    this.#tally.takeText(outputChannel, text)
  }
}

function outputChannelOf({ output_index: index }: JsonObject): number {
  return typeof index === 'number' ? Math.min(Math.max(index, 0), CHANNELS_MAX) : 0
}
