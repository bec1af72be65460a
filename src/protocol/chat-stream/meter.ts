import type { Bytes } from '../../domain/bytes.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { byteText } from '../json/json-text.ts'
import { dataInPlace } from '../sse/frame.ts'
import { StreamTally } from '../stream-tally.ts'
import type { StreamReading, UsageLimits } from '../text-dialect.ts'
import type { ChatChunk } from './chunk.ts'

/** Bounds the memory of a stream with ever new choice indexes. OpenAI's `n` allows as many. */
const CHOICES_MAX = 128
/** Content parts may contain parts. A frame may be nested deeper than the stack. */
const PARTS_DEPTH_MAX = 2

/** Meters a chat stream, chunk by chunk, in bounded memory. */
export class ChatMeter {
  readonly #choicesAsked: number
  readonly #tally: StreamTally
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  #doneSeen = false

  /** `choicesAsked` is the request's `n`. With fewer finish reasons, only `[DONE]` ends the stream. */
  constructor(choicesAsked: number, limits: UsageLimits) {
    this.#choicesAsked = choicesAsked
    this.#tally = new StreamTally(limits)
  }

  get allFinished(): boolean {
    return this.#finished.size >= Math.max(this.#choicesAsked, this.#begun.size)
  }

  takeError(): void {
    this.#tally.takeError()
  }

  takeDone(): void {
    this.#doneSeen = true
  }

  /** Whether the texts of the choice with this index count. */
  meters(choice: number): boolean {
    return this.#begun.has(choice)
  }

  /** Counts a chunk that only adds a text to such a choice. The text is plain ASCII and a part of `bytes`. */
  takePlain(outputChannel: number, bytes: Uint8Array, start: number, end: number): void {
    this.#tally.takePlain(outputChannel, bytes, start, end)
  }

  /** Like `takePlain`, for any text. */
  takeText(outputChannel: number, text: string): void {
    this.#tally.takeText(outputChannel, text)
  }

  /** `frame` is the frame of the chunk. */
  take(chunk: ChatChunk, frame: Bytes): void {
    const usage = chunk.usage ?? usageOfChoice(chunk) ?? usageOfGroq(chunk)
    if (usage !== undefined) this.#tally.takeUsage(usage)
    if (chunk.usage !== undefined)
      this.#tally.takeReportedCost(chunk.usage, () => byteText(dataInPlace(frame)))
    const tier = chunk.value['service_tier']
    if (typeof tier === 'string') this.#tally.takeServiceTier(tier)
    // The text of an error is not output, wherever it is in its chunk.
    if (chunk.isError) {
      this.takeError()
      return
    }
    this.#tally.begin()
    for (const [position, choice] of chunk.choices.entries()) {
      const index = typeof choice['index'] === 'number' ? choice['index'] : position
      if (!this.#begun.has(index)) {
        if (this.#begun.size >= Math.max(CHOICES_MAX, this.#choicesAsked)) continue
        this.#begun.add(index)
      }
      const reason = choice['finish_reason']
      if (typeof reason === 'string' && reason !== '') this.#finished.add(index)
      if (isJsonObject(choice['delta'])) this.#takeDelta(index, choice['delta'])
    }
  }

  reading(): StreamReading {
    return this.#tally.reading(this.#doneSeen || this.allFinished)
  }

  #takeDelta(choice: number, delta: JsonObject): void {
    const answer = answerChannel(choice)
    const reasoning = reasoningChannel(choice)
    this.#takeContent(answer, delta['content'])
    this.#takeContent(answer, delta['refusal'])
    // Some upstreams send the same reasoning under both names.
    this.#takeContent(reasoning, delta['reasoning_content'] ?? delta['reasoning'])
    const calls = delta['tool_calls']
    if (Array.isArray(calls)) for (const call of calls) this.#takeCall(answer, call?.function)
    this.#takeCall(answer, delta['function_call'])
    const audio = delta['audio']
    if (isJsonObject(audio)) {
      if (typeof audio['data'] === 'string') this.#tally.takeSound()
      this.#takeContent(answer, audio['transcript'])
    }
  }

  #takeCall(outputChannel: number, called: unknown): void {
    if (!isJsonObject(called)) return
    this.#takeContent(outputChannel, called['name'])
    this.#takeContent(outputChannel, called['arguments'])
  }

  /** A string or, from some upstreams, parts with a `text`, or with `thinking`, which contains such parts again. */
  #takeContent(outputChannel: number, content: unknown, depth = 0): void {
    if (typeof content === 'string') {
      this.takeText(outputChannel, content)
      return
    }
    if (!Array.isArray(content) || depth === PARTS_DEPTH_MAX) return
    for (const part of content) {
      if (!isJsonObject(part)) continue
      this.#takeContent(outputChannel, part['text'], depth + 1)
      this.#takeContent(outputChannel, part['thinking'], depth + 1)
    }
  }
}

/** The output channel for the answer of a choice. */
export function answerChannel(choice: number): number {
  return choice * 2
}

/** The output channel for the reasoning of a choice. */
export function reasoningChannel(choice: number): number {
  return choice * 2 + 1
}

/** Some upstreams report the usage inside the last choice instead of beside the choices. */
function usageOfChoice({ choices }: ChatChunk): JsonObject | undefined {
  const usage = choices[0]?.['usage']
  return isJsonObject(usage) ? usage : undefined
}

/** Groq reports the usage of a stream in its last chunk, also if the request does not ask for it. */
function usageOfGroq({ value }: ChatChunk): JsonObject | undefined {
  const groq = value['x_groq']
  const usage = isJsonObject(groq) ? groq['usage'] : undefined
  return isJsonObject(usage) ? usage : undefined
}
