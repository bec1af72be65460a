import type { StrictestRates } from '../domain/limits/admission.ts'
import { MS_PER_MINUTE, MS_PER_S } from '../domain/time.ts'

const MINUTES_PER_HOUR = 60

/** The headers of a reply, by name. */
type Headers = Record<string, string>

/** Adds the headers by which clients of OpenAI's API see their limits. */
export function addOpenAiRateLimits(headers: Headers, { requests, tokens }: StrictestRates): void {
  if (requests !== undefined) {
    headers['x-ratelimit-limit-requests'] = `${requests.limit}`
    headers['x-ratelimit-remaining-requests'] = `${requests.remaining}`
    headers['x-ratelimit-reset-requests'] = formatReset(requests.resetMs)
  }
  if (tokens !== undefined) {
    headers['x-ratelimit-limit-tokens'] = `${tokens.limit}`
    headers['x-ratelimit-remaining-tokens'] = `${tokens.remaining}`
    headers['x-ratelimit-reset-tokens'] = formatReset(tokens.resetMs)
  }
}

/** Adds the headers by which clients of Anthropic's API see their limits. */
export function addAnthropicRateLimits(
  headers: Headers,
  { requests, tokens }: StrictestRates,
  nowMs: number,
): void {
  if (requests !== undefined) {
    headers['anthropic-ratelimit-requests-limit'] = `${requests.limit}`
    headers['anthropic-ratelimit-requests-remaining'] = `${requests.remaining}`
    headers['anthropic-ratelimit-requests-reset'] = formatInstant(nowMs + requests.resetMs)
  }
  if (tokens !== undefined) {
    headers['anthropic-ratelimit-tokens-limit'] = `${tokens.limit}`
    headers['anthropic-ratelimit-tokens-remaining'] = `${tokens.remaining}`
    headers['anthropic-ratelimit-tokens-reset'] = formatInstant(nowMs + tokens.resetMs)
  }
}

/** A duration as OpenAI writes it: `6m0s`, `1.5s`, `20ms`. */
export function formatReset(ms: number): string {
  if (ms < MS_PER_S) return `${ms}ms`
  const minutes = Math.floor(ms / MS_PER_MINUTE)
  const rest = `${(ms % MS_PER_MINUTE) / MS_PER_S}s`
  if (minutes === 0) return rest
  const hours = Math.floor(minutes / MINUTES_PER_HOUR)
  return hours === 0 ? `${minutes}m${rest}` : `${hours}h${minutes % MINUTES_PER_HOUR}m${rest}`
}

/** RFC 3339 in whole seconds, rounded up: before that instant, something is still missing. */
export function formatInstant(atMs: number): string {
  return new Date(Math.ceil(atMs / MS_PER_S) * MS_PER_S).toISOString().replace('.000Z', 'Z')
}
