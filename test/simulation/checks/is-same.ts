/** Whether two plain values have the same content. */
export function isSame(left: unknown, right: unknown): boolean {
  return Bun.deepEquals(left, right)
}
