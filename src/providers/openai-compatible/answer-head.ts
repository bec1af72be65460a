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

/** Reads all in one pass, which costs less than asking for each by name. */
export function readHead(headers: Headers, costHeader: string | undefined): AnswerHead {
  const allowed: Record<string, string> = {}
  let contentLength: number | undefined
  let contentEncoding: string | undefined
  // oxlint-disable-next-line unicorn/no-array-for-each -- the native loop of Headers is the cheaper one
  headers.forEach((value, name) => {
    if (name === 'content-type' || name === 'retry-after' || name.startsWith('x-ratelimit-')) {
      allowed[name] = value
    } else if (name === 'content-length') contentLength = Number(value)
    else if (name === 'content-encoding' && value !== 'identity') contentEncoding = value
  })
  return {
    headers: allowed,
    reportedCost: costHeader === undefined ? null : headers.get(costHeader),
    contentLength,
    contentEncoding,
  }
}
