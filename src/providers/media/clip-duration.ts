/** The milliseconds of a clip's length in seconds, a number or its digits. Undefined for any other value. */
export function millisecondsOf(seconds: unknown): number | undefined {
  const isNumeric =
    typeof seconds === 'number' || (typeof seconds === 'string' && /^\d{1,6}(?:\.\d{1,9})?$/.test(seconds))
  const milliseconds = isNumeric ? Math.round(Number(seconds) * 1000) : 0
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? milliseconds : undefined
}
