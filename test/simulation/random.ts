import type { Bytes } from '../../src/domain/bytes.ts'
/** A source of random numbers that a seed reproduces exactly (the `mulberry32` and `splitmix32` generators). */
export class Random {
  #state: number

  constructor(seed: number) {
    // Seeds that follow each other must not give similar sequences.
    this.#state = mixed(seed)
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x1_0000_0000
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** An integer between two positive ones; each order of magnitude is equally likely. */
  magnitude(min: number, max: number): number {
    return Math.round(min * (max / min) ** this.next())
  }

  pick<Value>(values: readonly Value[]): Value {
    if (values.length === 0) throw new RangeError('There is nothing to pick from.')
    return values[this.integer(0, values.length - 1)] as Value
  }

  /** One of the names, each as likely as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return entries.at(-1)![0]
  }

  bytes(length: number): Bytes {
    return Uint8Array.from({ length }, () => this.integer(0, 255))
  }

  /** 64 bits as a signed integer. */
  bits64(): bigint {
    const high = BigInt(Math.floor(this.next() * 0x1_0000_0000))
    const low = BigInt(Math.floor(this.next() * 0x1_0000_0000))
    return BigInt.asIntN(64, (high << 32n) | low)
  }

  /** Another source, so that what one part of a run draws does not change what the others get. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 0x1_0000_0000))
  }
}

function mixed(seed: number): number {
  let bits = (seed + 0x9e3779b9) | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return bits ^ (bits >>> 15)
}
