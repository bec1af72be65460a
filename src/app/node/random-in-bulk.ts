/** Random 64-bit integers. They are generated in bulk, because one call per integer is slow. */
export function randomInBulk(): () => bigint {
  const drawn = new BigInt64Array(512)
  let used = drawn.length
  return () => {
    if (used === drawn.length) {
      crypto.getRandomValues(drawn)
      used = 0
    }
    used += 1
    return drawn[used - 1] ?? 0n
  }
}
