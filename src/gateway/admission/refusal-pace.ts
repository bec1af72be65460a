import type { Clock } from '../ports/clock.ts'

/** The refusals of a key that are sent at once within one second. A large batch of requests has fewer. */
export const REFUSALS_AT_ONCE = 250
const SECOND_MS = 1000
/**
 * How often refusals that wait are sent. A refusal takes about 0.1 ms with its next request, so even with 2000 waiting
 * connections, a turn delays the requests of other keys by only a millisecond.
 */
export const TURN_MS = 5
const TURNS_PER_SECOND = SECOND_MS / TURN_MS
const SENT_IN_TURN_MIN = 1

/**
 * Slows down floods of refused requests. The refusals of a key beyond a number in a second wait for up to a second,
 * and are spread over it. A client that sends its next request after its reply then takes little time from other keys.
 * The number of connections also bounds the number of refusals that wait.
 */
export class RefusalPace {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>
  /** The refusals of each key in the current second. */
  readonly #counts = new Map<string, number>()
  #second = 0
  /** Those that wait, of all keys, in order. */
  readonly #waiting: (() => void)[] = []
  #sentInTurn = SENT_IN_TURN_MIN

  constructor(clock: Pick<Clock, 'monotonicMs' | 'after'>) {
    this.#clock = clock
  }

  /** Counts a refusal of a key. Resolves when it may be sent; undefined if it may be sent at once. */
  turn(apiKeyId: string): Promise<void> | undefined {
    const second = Math.floor(this.#clock.monotonicMs() / SECOND_MS)
    if (second !== this.#second) {
      this.#second = second
      this.#counts.clear()
    }
    const count = (this.#counts.get(apiKeyId) ?? 0) + 1
    this.#counts.set(apiKeyId, count)
    if (count <= REFUSALS_AT_ONCE) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    if (this.#waiting.length === 1) this.#clock.after(TURN_MS, this.#onTurn)
    return promise
  }

  /** Sends as many as it takes that none waits for more than a second. */
  readonly #onTurn = (): void => {
    const needed = Math.ceil(this.#waiting.length / TURNS_PER_SECOND)
    this.#sentInTurn = Math.max(this.#sentInTurn, needed)
    for (const send of this.#waiting.splice(0, this.#sentInTurn)) send()
    if (this.#waiting.length > 0) this.#clock.after(TURN_MS, this.#onTurn)
    else this.#sentInTurn = SENT_IN_TURN_MIN
  }
}
