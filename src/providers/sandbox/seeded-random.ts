/** Pseudo-random numbers from 0 to below 1, the same sequence for the same text. */
export type Random = () => number

export function seededRandom(text: string): Random {
  let state = hash32(text)
  // Mulberry32: small and fast, and uniform enough for words and vectors.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** FNV-1a over UTF-16 units, as an unsigned 32-bit number. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

export function pick<T>(options: readonly [T, ...T[]], random: Random): T {
  return options[Math.floor(random() * options.length)] ?? options[0]
}
