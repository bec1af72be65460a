import type { MailMessage, MailState } from '../../../domain/mail/mail.ts'
import type { EventType } from '../../../domain/webhooks/event.ts'

/** A mail with the columns of its recipient and its event that lists show. */
export type MailMessageRow = {
  id: bigint
  public_id: string
  address: string
  account_id: bigint | null
  event_public_id: string | null
  type: EventType | null
  queued_at_ms: bigint
  state: MailState
  attempts: bigint
  next_attempt_at_ms: bigint | null
  attempted_at_ms: bigint | null
  problem: string | null
}

export function mailMessageFrom(row: MailMessageRow): MailMessage {
  const { event_public_id: publicId, type } = row
  return {
    publicId: row.public_id,
    to: row.address,
    accountId: row.account_id === null ? undefined : Number(row.account_id),
    event: publicId === null || type === null ? undefined : { publicId, type },
    queuedAtMs: Number(row.queued_at_ms),
    state: row.state,
    attempts: Number(row.attempts),
    nextAttemptAtMs: numberOrNull(row.next_attempt_at_ms),
    attemptedAtMs: numberOrNull(row.attempted_at_ms),
    problem: row.problem,
  }
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
