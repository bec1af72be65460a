/** No answer has more tokens. A larger number is not a count. */
const TOKENS_MAX = 100_000_000

/** A number of tokens; 0 for a value that is not one. */
export function countOf(value: unknown): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
  return isCount ? value : 0
}
