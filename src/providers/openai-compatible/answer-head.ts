import type { WantedField } from '../http-client/http-request.ts'
import type { ResponseHead } from '../http-client/response-head.ts'

/** What is read of an answer's head. */
export type AnswerHead = {
  readonly status: number
  /** The allowlist: `content-type`, `retry-after` and `x-ratelimit-*`. */
  readonly headers: Readonly<Record<string, string>>
  readonly reportedCost: string | null
  /** The promised length of the body, as it travels; undefined where none is promised. */
  readonly contentLength: number | undefined
  /** Undefined for a plain body. */
  readonly contentEncoding: string | undefined
}

const RATE_LIMITS = 'x-ratelimit-'

/** The fields that `readHead` takes. */
export function wantedFields(costHeader: string | undefined): readonly WantedField[] {
  return [
    { name: 'content-type' },
    { name: 'retry-after' },
    { name: 'content-encoding' },
    { name: RATE_LIMITS, isPrefix: true },
    ...(costHeader === undefined ? [] : [{ name: costHeader.toLowerCase() }]),
  ]
}

/** Reads what came of the fields that were wanted; of others, only those are taken. */
export function readHead(
  { status, fields, framing }: ResponseHead,
  costHeader: string | undefined,
): AnswerHead {
  const headers: Record<string, string> = {}
  const costName = costHeader?.toLowerCase()
  let reportedCost: string | null = null
  let contentEncoding: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? ''
    const value = fields[at + 1] ?? ''
    if (name === 'content-type' || name === 'retry-after' || name.startsWith(RATE_LIMITS)) {
      headers[name] = joined(headers[name], value)
    } else if (name === 'content-encoding' && value !== 'identity')
      contentEncoding = joined(contentEncoding, value)
    if (name === costName) reportedCost = joined(reportedCost ?? undefined, value)
  }
  const contentLength = typeof framing === 'number' ? framing : undefined
  return { status, headers, reportedCost, contentLength, contentEncoding }
}

/** A header that came more than once means its values in a list. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}
