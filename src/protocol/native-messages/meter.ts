import { isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { StreamTally } from '../stream-tally.ts'
import type { StreamReading, UsageLimits } from '../text-dialect.ts'
import { readUsage } from '../usage.ts'
import { isErrorEvent, objectIn, type MessagesEvent } from './event.ts'

/** The number of blocks of one message whose texts are kept separately. */
const CHANNELS_MAX = 64

/** Meters a messages stream, event by event, in bounded memory. */
export class MessagesMeter {
  readonly #tally: StreamTally
  readonly #limits: UsageLimits
  #startUsage: JsonObject | undefined
  #hasFinalUsage = false
  #stopSeen = false

  constructor(limits: UsageLimits) {
    this.#limits = limits
    this.#tally = new StreamTally(limits)
  }

  /** `json` is the text of the event's data. */
  take(event: MessagesEvent, json: string): void {
    const { type, value } = event
    // The text of an error is not output.
    if (isErrorEvent(event)) return this.#tally.takeError()
    this.#tally.begin()
    if (type === 'content_block_delta') this.#takeDelta(value)
    else if (type === 'content_block_start') this.#takeBlock(value)
    else if (type === 'message_start') this.#takeStart(objectIn(value, 'message'))
    else if (type === 'message_delta') this.#takeEnd(value, json)
    else if (type === 'message_stop') this.#stopSeen = true
  }

  /**
   * The usage at the start has the input, but not the output that follows. So a stream that breaks off before its last
   * usage is charged for the input that was reported and for the output that was produced.
   */
  reading(): StreamReading {
    const reading = this.#tally.reading(this.#stopSeen)
    if (this.#hasFinalUsage || this.#startUsage === undefined) return reading
    const reported = readUsage({ ...this.#startUsage, output_tokens: 0 }, this.#limits)
    return reported === null ? reading : { ...reading, inputUsage: reported.usage }
  }

  #takeStart({ usage }: JsonObject): void {
    if (!isJsonObject(usage)) return
    this.#startUsage = usage
    this.#tally.takeServiceTier(usage['service_tier'])
  }

  /** The counts are cumulative. Those that do not change may be only in the first event. */
  #takeEnd(value: JsonObject, json: string): void {
    const { usage } = value
    if ((objectIn(value, 'delta')['stop_reason'] ?? null) !== null) this.#stopSeen = true
    if (!isJsonObject(usage)) return
    const counts = Object.entries(usage).filter(([, count]) => count !== null)
    this.#tally.takeUsage({ ...this.#startUsage, ...Object.fromEntries(counts) })
    this.#hasFinalUsage = true
    this.#tally.takeReportedCost(usage, () => json)
  }

  /** A block may start with a part of its text. The name of a call comes before its input. */
  #takeBlock(value: JsonObject): void {
    const { type, text, name } = objectIn(value, 'content_block')
    if (typeof text === 'string') this.#tally.takeText(channelOf(value), text)
    if (typeof name === 'string') this.#tally.takeText(channelOf(value), name)
    // Its text is encrypted, so it cannot be counted.
    if (type === 'redacted_thinking') this.#tally.takeSound()
  }

  #takeDelta(value: JsonObject): void {
    const { text, thinking, partial_json: json } = objectIn(value, 'delta')
    const written = text ?? thinking ?? json
    if (typeof written === 'string') this.#tally.takeText(channelOf(value), written)
  }
}

function channelOf({ index }: JsonObject): number {
  return typeof index === 'number' ? Math.min(Math.max(index, 0), CHANNELS_MAX) : 0
}
