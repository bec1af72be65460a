import { GatewayError } from '../../domain/errors.ts'
import type { Moderator } from '../ports/moderator.ts'
import type { TextTrace } from './text-call.ts'

/** Of a longer text only the end is judged, which is what was said last. */
export const MODERATED_CHARS_MAX = 128_000
/** Moderators refuse what is too long for their own model, and then nothing would be judged. */
export const PIECE_CHARS_MAX = 8_000

/**
 * Throws `content_policy_violation` where the moderator flags the request's text. Without a verdict the request goes on: a
 * moderator that is down must not take every model with it.
 */
export async function moderate(text: string, moderator: Moderator, trace: TextTrace): Promise<void> {
  if (text === '') return
  const moderation = await moderator.judge(piecesOf(text.slice(-MODERATED_CHARS_MAX)))
  trace.moderation = moderation.verdict
  if (moderation.verdict === 'unavailable') trace.moderationProblem = moderation.problem
  if (moderation.verdict !== 'flagged') return
  throw new GatewayError(
    'content_policy_violation',
    'The text of this request was stopped by content moderation.',
  )
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += PIECE_CHARS_MAX) {
    pieces.push(text.slice(start, start + PIECE_CHARS_MAX))
  }
  return pieces
}
