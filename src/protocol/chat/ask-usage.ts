import { MemberWalk } from '../json/members.ts'
import { spliceText, type Edit } from '../json/splice.ts'

const OPTIONS = 'stream_options'
const ASK = '"include_usage":true'

/**
 * The text of a chat request with `stream_options.include_usage` set to true. All other bytes stay. `stream_options` is
 * an object, null or absent, and occurs once.
 */
export function withUsageAsked(text: string): string {
  for (const walk = new MemberWalk(text); walk.next();) {
    if (!walk.isNamed(OPTIONS)) continue
    const { start, end } = walk
    if (text[start] !== '{') return spliceText(text, [{ start, end, text: `{${ASK}}` }])
    return spliceText(text, optionEdits(text, start))
  }
  const at = text.indexOf('{') + 1
  // A request names its model, so another member follows.
  return spliceText(text, [{ start: at, end: at, text: `"${OPTIONS}":{${ASK}},` }])
}

/** Replaces the value in the options that begin at `start`, also if it is there more than once, or adds it. */
function optionEdits(text: string, start: number): readonly Edit[] {
  const edits: Edit[] = []
  const walk = new MemberWalk(text, start)
  let isEmpty = true
  while (walk.next()) {
    isEmpty = false
    if (walk.isNamed('include_usage')) edits.push({ start: walk.start, end: walk.end, text: 'true' })
  }
  if (edits.length > 0) return edits
  return [{ start: start + 1, end: start + 1, text: isEmpty ? ASK : `${ASK},` }]
}
