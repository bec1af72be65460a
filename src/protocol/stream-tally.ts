import type { ExactUsd } from '../domain/pricing/exact-usd.ts'
import {
  NO_FEATURES,
  clampedFeatures,
  findReportedCost,
  readUsage,
  withTier,
  type BilledFeatures,
} from './usage.ts'
import { ProducedText } from './produced-text.ts'
import type { StreamReading, UsageLimits } from './text-dialect.ts'
import type { JsonObject } from './json/parse-json.ts'

/** The counts that the meters of all streams share, in bounded memory. */
export class StreamTally {
  readonly #limits: UsageLimits
  readonly #produced = new ProducedText()
  #hasBegun = false
  #outputBegan = false
  #errorSeen = false
  #errorFirst = false
  #usage: JsonObject | undefined
  #reportedCost: ExactUsd | null = null
  #serviceTier: unknown
  #calls = NO_FEATURES

  constructor(limits: UsageLimits) {
    this.#limits = limits
  }

  /** The upstream has sent something. An error that follows is not the first thing it sent. */
  begin(): void {
    this.#hasBegun = true
  }

  /**
   * May be called twice for one error: for the name and the data of a frame, or for an event and the response's end.
   */
  takeError(): void {
    this.#errorSeen = true
    if (!this.#hasBegun) this.#errorFirst = true
    this.#hasBegun = true
  }

  /** Counts output that a tokenizer cannot count. */
  takeSound(): void {
    this.#outputBegan = true
  }

  takeText(outputChannel: number, text: string): void {
    if (text !== '') this.#outputBegan = true
    this.#produced.add(outputChannel, text)
  }

  /** Like `takeText`, for a text in plain ASCII that is a part of `bytes`. */
  takePlain(outputChannel: number, bytes: Uint8Array, start: number, end: number): void {
    if (end > start) this.#outputBegan = true
    this.#produced.addPlain(outputChannel, bytes, start, end)
  }

  /** The last usage counts. */
  takeUsage(usage: JsonObject): void {
    this.#usage = usage
  }

  /** Reads the provider's own cost in a usage of the object in `json`. The last cost counts. */
  takeReportedCost(usage: JsonObject, json: () => string): void {
    this.#reportedCost = findReportedCost(usage, json, this.#limits.costField) ?? this.#reportedCost
  }

  /** The last service tier counts. */
  takeServiceTier(tier: unknown): void {
    this.#serviceTier = tier
  }

  takeSearchCall(): void {
    this.#calls = { ...this.#calls, searchCalls: this.#calls.searchCalls + 1 }
  }

  takeFileSearch(): void {
    this.#calls = { ...this.#calls, fileSearches: this.#calls.fileSearches + 1 }
  }

  /** The calls in a complete answer. They include those that came before, if the answer lists any. */
  takeCalls({ searchCalls, fileSearches }: BilledFeatures): void {
    this.#calls = {
      searchCalls: Math.max(this.#calls.searchCalls, searchCalls),
      fileSearches: Math.max(this.#calls.fileSearches, fileSearches),
    }
  }

  /** `isComplete` says that the route's sign of a complete answer has come. */
  reading(isComplete: boolean): StreamReading {
    const reported = readUsage(this.#usage, this.#limits)
    const told = withTier(this.#calls, this.#serviceTier ?? this.#usage?.['service_tier'])
    const { features, isClamped } = clampedFeatures(told, this.#limits)
    return {
      endedWell: isComplete && !this.#errorSeen,
      outputBegan: this.#outputBegan,
      errorSeen: this.#errorSeen,
      errorFirst: this.#errorFirst,
      usage: reported && { ...reported.usage, ...features },
      features,
      isClamped: isClamped || (reported?.isClamped ?? false),
      reportedCost: this.#reportedCost,
      texts: () => this.#produced.texts(),
      textsScale: this.#produced.scale,
    }
  }
}
