const SECONDS = /^\d{1,9}$/

/** The wait that a `Retry-After` header asks for, in milliseconds: a number of seconds or a date. Undefined for anything else. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (SECONDS.test(text)) return Number(text) * 1000
  // Only dates have words in them: Date.parse would take "-5" and "1.5" for years.
  const atMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
