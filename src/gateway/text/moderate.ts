import { GatewayError } from '../../domain/errors.ts'
import type { Moderator } from '../ports/providers/moderator.ts'
import type { TextRecord } from './text-record.ts'

/** Only the end of a longer text is moderated, because it was said last. */
export const MODERATED_CHARS_MAX = 128_000
/** The length of one piece. Moderators refuse texts that are too long for their own model. */
export const PIECE_CHARS_MAX = 8_000

/**
 * Throws `content_policy_violation` if the moderator flags the text. If it gives no verdict, the request continues,
 * because a failing moderator must not stop every model.
 */
export async function moderate(text: string, moderator: Moderator, record: TextRecord): Promise<void> {
  if (text === '') return
  const moderation = await moderator.judge(piecesOf(text.slice(-MODERATED_CHARS_MAX)))
  record.moderation = moderation.verdict
  if (moderation.verdict === 'unavailable') record.moderationProblem = moderation.problem
  if (moderation.verdict !== 'flagged') return
  throw new GatewayError('content_policy_violation', 'Content moderation refused the text of this request.')
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += PIECE_CHARS_MAX) {
    pieces.push(text.slice(start, start + PIECE_CHARS_MAX))
  }
  return pieces
}
