import type { StrictestRates } from '../domain/limits/admission.ts'
import type { RateStatus } from '../domain/limits/rate-bucket.ts'

/** Header names with their values. */
type Headers = readonly (readonly [name: string, value: string])[]

const kinds = ['requests', 'tokens'] as const
const MS_PER_S = 1000
const MS_PER_MINUTE = 60_000
const MINUTES_PER_HOUR = 60

/** The headers by which clients of OpenAI's API see their limits. */
export function openAiRateLimits(rates: StrictestRates): Headers {
  return headersOf(
    rates,
    'x-ratelimit',
    (part, kind) => `${part}-${kind}`,
    ({ resetMs }) => formatReset(resetMs),
  )
}

/** The headers by which clients of Anthropic's API see their limits. */
export function anthropicRateLimits(rates: StrictestRates, nowMs: number): Headers {
  const resetAt = ({ resetMs }: RateStatus) => formatInstant(nowMs + resetMs)
  return headersOf(rates, 'anthropic-ratelimit', (part, kind) => `${kind}-${part}`, resetAt)
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

function headersOf(
  rates: StrictestRates,
  prefix: string,
  nameOf: (part: string, kind: string) => string,
  resetOf: (status: RateStatus) => string,
): Headers {
  return kinds.flatMap(kind => {
    const status = rates[kind]
    if (status === undefined) return []
    return [
      [`${prefix}-${nameOf('limit', kind)}`, `${status.limit}`],
      [`${prefix}-${nameOf('remaining', kind)}`, `${status.remaining}`],
      [`${prefix}-${nameOf('reset', kind)}`, resetOf(status)],
    ] as const
  })
}
