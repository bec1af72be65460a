import { MemberWalk } from './json/members.ts'
import { spliceText, type Edit } from './json/splice.ts'
import { scrubTexts, type UpstreamSecrets } from './scrub.ts'

/**
 * A reply's text with its top-level `error` scrubbed, which the operator's provider tells and not the model. The rest keeps its
 * bytes, and so does an error with nothing to take out.
 */
export function scrubReplyError(reply: string, secrets: UpstreamSecrets): string {
  const edits: Edit[] = []
  for (const walk = new MemberWalk(reply); walk.next();) {
    if (!walk.isNamed('error')) continue
    const { start, end } = walk
    const error: unknown = JSON.parse(reply.slice(start, end))
    const shown = JSON.stringify(scrubTexts(error, secrets))
    if (shown !== JSON.stringify(error)) edits.push({ start, end, text: shown })
  }
  return spliceText(reply, edits)
}
