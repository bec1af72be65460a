import type { RequestHead } from '../wire/request-head.ts'
import { hasNoBody, responseStart } from '../wire/response-start.ts'
import type { Reply } from '../../http/request-context.ts'

export type ReplyTerms = {
  /** The value of `date`. */
  readonly date: string
  /** Whether the connection closes after it. */
  readonly isLast: boolean
  /** Of the body; undefined for one that is made as it is read. */
  readonly length: number | undefined
  /** More lines, each with its end. */
  readonly lines: string
}

/** The head of a reply, to the end of its blank line. Throws for a header that would not stay in its line. */
export function replyHead(
  { isOld }: RequestHead,
  { status, headers }: Reply,
  { date, isLast, length, lines }: ReplyTerms,
): string {
  let text = `${responseStart(status, headers)}${lines}date: ${date}\r\n`
  if (isLast) {
    if (headers['connection'] === undefined) text += 'connection: close\r\n'
  } else if (isOld) text += 'connection: keep-alive\r\n'
  if (hasNoBody(status)) return `${text}\r\n`
  if (length === undefined) return isOld ? `${text}\r\n` : `${text}transfer-encoding: chunked\r\n\r\n`
  return `${text}content-length: ${length}\r\n\r\n`
}
