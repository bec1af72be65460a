import type { RateLimits, RetryAfter } from '../../gateway/ports/text-provider.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import type { HeaderFields } from '../../http1/wire/header-fields.ts'

/** The parts of an answer's head that are used. */
export type AnswerHead = {
  readonly status: number
  readonly contentType: string | undefined
  readonly retryAfter: RetryAfter | undefined
  readonly rateLimits: RateLimits
  readonly reportedCost: string | null
  /** The declared length of the body as sent; undefined if none is declared. */
  readonly contentLength: number | undefined
  /** Undefined for a plain body. */
  readonly contentEncoding: string | undefined
}

const RATE_LIMITS = 'x-ratelimit-'
const USUAL_RATE_LIMITS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
]

export function readHead(
  { status, headers: fields, contentLength }: Pick<HttpResponse, 'status' | 'headers' | 'contentLength'>,
  costHeader: string | undefined,
): AnswerHead {
  const costName = costHeader?.toLowerCase()
  let contentType: string | undefined
  let retryAfter: string | undefined
  let reportedCost: string | null = null
  let contentEncoding: string | undefined
  for (let index = 0; index < fields.count; index += 1) {
    if (fields.isNamed(index, 'content-type')) contentType = joined(contentType, fields.valueAt(index))
    else if (fields.isNamed(index, 'retry-after')) retryAfter = joined(retryAfter, fields.valueAt(index))
    else if (fields.isNamed(index, 'content-encoding') && fields.valueAt(index) !== 'identity')
      contentEncoding = joined(contentEncoding, fields.valueAt(index))
    if (costName !== undefined && fields.isNamed(index, costName))
      reportedCost = joined(reportedCost ?? undefined, fields.valueAt(index))
  }
  return {
    status,
    contentType,
    retryAfter: retryAfter === undefined ? undefined : readRetryAfter(retryAfter),
    rateLimits: rateLimitsOf(fields),
    reportedCost,
    contentLength,
    contentEncoding,
  }
}

function rateLimitsOf(fields: HeaderFields): RateLimits {
  const rateLimits: [string, string][] = []
  for (let index = 0; index < fields.count; index += 1)
    if (fields.isNamed(index, RATE_LIMITS, 'prefix'))
      rateLimits.push([rateLimitName(fields, index), fields.valueAt(index)])
  return rateLimits
}

/** Makes no new string for the usual names. */
function rateLimitName(fields: HeaderFields, index: number): string {
  for (const name of USUAL_RATE_LIMITS) if (fields.isNamed(index, name)) return name
  return fields.nameAt(index)
}

/** A header that comes more than once is a list of its values. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

const SECONDS = /^\d{1,9}$/

/** Reads a `Retry-After` header, which is a number of seconds or a date. */
export function readRetryAfter(header: string): RetryAfter {
  const text = header.trim()
  if (SECONDS.test(text)) return { text: header, delayMs: Number(text) * 1000 }
  // A date contains letters. Without this check, Date.parse would read "-5" and "1.5" as years.
  const untilMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(untilMs) ? { text: header } : { text: header, untilMs }
}
