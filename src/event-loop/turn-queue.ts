/** More at once would push each other's data out of the caches, and keep the first of them waiting. */
const COHORT_MAX = 64

/**
 * Gathers what comes in one turn of the event loop, and has it handled at the turn's end, one behind the other: the code is in the
 * processor's caches for all but the first, and so is a peer that one of many sends has woken. In
 * order; what comes while it handles waits for the next turn.
 */
export class TurnQueue<Item> {
  readonly #handle: (item: Item) => void
  readonly #onThrown: (item: Item, error: unknown) => void
  #items: Item[] = []

  /** What `handle` throws for an item is told, and the others are handled all the same. */
  constructor(handle: (item: Item) => void, onThrown: (item: Item, error: unknown) => void) {
    this.#handle = handle
    this.#onThrown = onThrown
  }

  add(item: Item): void {
    this.#items.push(item)
    if (this.#items.length === 1) setImmediate(this.#handleCohort)
  }

  /** Handles an item at once, which may be among those that wait. */
  handleNow(item: Item): void {
    try {
      this.#handle(item)
    } catch (error) {
      this.#onThrown(item, error)
    }
  }

  readonly #handleCohort = () => {
    const cohort = this.#items
    this.#items = cohort.splice(COHORT_MAX)
    if (this.#items.length > 0) setImmediate(this.#handleCohort)
    for (const item of cohort) this.handleNow(item)
  }
}
