import { MemberWalk, spliceText, type Edit } from './json/json-text.ts'
import { scrubTexts, type UpstreamSecrets } from './scrub.ts'

/**
 * A reply's text with its top-level `error` scrubbed: the error comes from the operator's provider, not from the model.
 * All other bytes stay, and an error with nothing to remove keeps its bytes too.
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
