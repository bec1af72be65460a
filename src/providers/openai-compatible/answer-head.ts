/** What is read of an answer's headers. */
export type AnswerHead = {
  /** The allowlist: `content-type`, `retry-after` and `x-ratelimit-*`. */
  readonly headers: Readonly<Record<string, string>>
  readonly reportedCost: string | null
  /** The promised length of the body, as it travels; undefined where none is promised. */
  readonly contentLength: number | undefined
  /** Undefined for a plain body. */
  readonly contentEncoding: string | undefined
}

/** Takes names, in lower case, and values in turn. Reads all in one pass, which costs less than asking for each by name. */
export function readHead(fields: readonly string[], costHeader: string | undefined): AnswerHead {
  const headers: Record<string, string> = {}
  const costName = costHeader?.toLowerCase()
  let reportedCost: string | null = null
  let contentLength: number | undefined
  let contentEncoding: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? ''
    const value = fields[at + 1] ?? ''
    if (name === 'content-type' || name === 'retry-after' || name.startsWith('x-ratelimit-')) {
      headers[name] = joined(headers[name], value)
    } else if (name === 'content-length') contentLength = Number(value)
    else if (name === 'content-encoding' && value !== 'identity')
      contentEncoding = joined(contentEncoding, value)
    if (name === costName) reportedCost = joined(reportedCost ?? undefined, value)
  }
  return { headers, reportedCost, contentLength, contentEncoding }
}

/** A header that came more than once means its values in a list. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}
