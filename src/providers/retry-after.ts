import type { RetryAfter } from '../gateway/ports/text-provider.ts'

const SECONDS = /^\d{1,9}$/

/** Reads a `Retry-After` header, which is a number of seconds or a date. */
export function readRetryAfter(header: string): RetryAfter {
  const text = header.trim()
  if (SECONDS.test(text)) return { text: header, delayMs: Number(text) * 1000 }
  // A date contains letters. Without this check, Date.parse would read "-5" and "1.5" as years.
  const untilMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(untilMs) ? { text: header } : { text: header, untilMs }
}
