import type { Flight } from './flight.ts'

/** A few thousand requests at once have a bucket each. */
const BUCKETS = 1 << 12
/** A fingerprint begins with a digest, so that so many of its characters tell it from others. */
const HASHED_CHARS = 6

/**
 * The flights on their way, by their fingerprint. A `Map` that gets and loses an entry with every request rebuilds itself again and
 * again, which took 3 µs of CPU a request; buckets stay as they are.
 */
export class Flights {
  /** The last flight of each bucket, which names the one before it. */
  readonly #last = Array.from<Flight | undefined>({ length: BUCKETS })

  find(fingerprint: string): Flight | undefined {
    let flight = this.#last[bucketOf(fingerprint)]
    while (flight !== undefined && flight.fingerprint !== fingerprint) flight = flight.before
    return flight
  }

  /** Is found from now on, in the place of an earlier one of the same fingerprint. */
  add(flight: Flight): void {
    const bucket = bucketOf(flight.fingerprint)
    flight.before = this.#last[bucket]
    this.#last[bucket] = flight
  }

  /** Repeating it changes nothing. */
  remove(flight: Flight): void {
    const bucket = bucketOf(flight.fingerprint)
    let next = this.#last[bucket]
    if (next === flight) this.#last[bucket] = flight.before
    for (; next !== undefined; next = next.before) if (next.before === flight) next.before = flight.before
    flight.before = undefined
  }
}

function bucketOf(fingerprint: string): number {
  let hash = 0
  const chars = Math.min(fingerprint.length, HASHED_CHARS)
  for (let at = 0; at < chars; at += 1) hash = (Math.imul(hash, 31) + fingerprint.charCodeAt(at)) >>> 0
  return hash % BUCKETS
}
