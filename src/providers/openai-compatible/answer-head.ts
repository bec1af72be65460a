import type { RateLimits } from '../../gateway/ports/text-provider.ts'
import type { HeaderFields } from '../../http1/wire/header-fields.ts'
import type { ResponseHead } from '../../http1/client/response-head.ts'

/** What is read of an answer's head. */
export type AnswerHead = {
  readonly status: number
  /** The allowlist: `content-type` and `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  readonly rateLimits: RateLimits
  readonly reportedCost: string | null
  /** The promised length of the body, as it travels; undefined where none is promised. */
  readonly contentLength: number | undefined
  /** Undefined for a plain body. */
  readonly contentEncoding: string | undefined
}

const RATE_LIMITS = 'x-ratelimit-'

/** What an answer's head says that matters. */
export function readHead(
  { status, fields, framing }: ResponseHead,
  costHeader: string | undefined,
): AnswerHead {
  const headers: Record<string, string> = {}
  const costName = costHeader?.toLowerCase()
  let reportedCost: string | null = null
  let contentEncoding: string | undefined
  for (let index = 0; index < fields.count; index += 1) {
    const name = allowedName(fields, index)
    if (name !== undefined) headers[name] = joined(headers[name], fields.valueAt(index))
    else if (fields.isNamed(index, 'content-encoding') && fields.valueAt(index) !== 'identity')
      contentEncoding = joined(contentEncoding, fields.valueAt(index))
    if (costName !== undefined && fields.isNamed(index, costName))
      reportedCost = joined(reportedCost ?? undefined, fields.valueAt(index))
  }
  const contentLength = typeof framing === 'number' ? framing : undefined
  return { status, headers, rateLimits: rateLimitsOf(fields), reportedCost, contentLength, contentEncoding }
}

function allowedName(fields: HeaderFields, index: number): string | undefined {
  if (fields.isNamed(index, 'content-type')) return 'content-type'
  return fields.isNamed(index, 'retry-after') ? 'retry-after' : undefined
}

function rateLimitsOf(fields: HeaderFields): RateLimits {
  const rateLimits: [string, string][] = []
  for (let index = 0; index < fields.count; index += 1)
    if (fields.isNamed(index, RATE_LIMITS, 'beginning'))
      rateLimits.push([fields.nameAt(index), fields.valueAt(index)])
  return rateLimits
}

/** A header that came more than once means its values in a list. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}
