const SECONDS = /^\d{1,9}$/

/**
 * The wait of a `Retry-After` header in milliseconds. The header is a number of seconds or a date; anything else is
 * undefined.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (SECONDS.test(text)) return Number(text) * 1000
  // A date contains letters. Without this check, Date.parse would read "-5" and "1.5" as years.
  const atMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
