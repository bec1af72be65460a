import { formatId, type IdPrefix } from '../../../domain/ids.ts'
import { eventTypes, type EventType } from '../../../domain/webhooks/event.ts'
import type {
  Attempt,
  MessageState,
  OffReason,
  Webhook,
  WebhookMessage,
} from '../../../domain/webhooks/webhook.ts'

const SEQUENCE_BITS = 16n

/** An id that begins with the time. Steps have no source of ids, and these do not have to grow. */
export function newEventId(prefix: IdPrefix, atMs: number): string {
  const [low = 0n, tail = 0n] = crypto.getRandomValues(new BigInt64Array(2))
  const sequence = BigInt.asUintN(Number(SEQUENCE_BITS), low)
  return formatId(prefix, { key: (BigInt(atMs) << SEQUENCE_BITS) | sequence, tail })
}

export type WebhookRow = {
  id: bigint
  public_id: string
  account_id: bigint | null
  url: string
  events: string
  note: string
  secret: Uint8Array
  old_secret: Uint8Array | null
  old_secret_ends_at_ms: bigint | null
  created_at_ms: bigint
  off_at_ms: bigint | null
  off_reason: OffReason | null
  failing_since_ms: bigint | null
  dropped: bigint
}

/** A message with the columns of its event that lists show. */
export type MessageRow = {
  id: bigint
  public_id: string
  webhook_id: bigint
  state: MessageState
  attempts: bigint
  next_attempt_at_ms: bigint | null
  attempted_at_ms: bigint | null
  duration_ms: bigint | null
  status: bigint | null
  problem: string | null
  event_public_id: string
  type: EventType
  event_at_ms: bigint
}

export function webhookFrom(row: WebhookRow): Webhook {
  const { off_at_ms: offAt, off_reason: reason } = row
  return {
    id: Number(row.id),
    publicId: row.public_id,
    accountId: row.account_id === null ? undefined : Number(row.account_id),
    url: row.url,
    events: eventsFrom(row.events),
    note: row.note,
    createdAtMs: Number(row.created_at_ms),
    oldSecretEndsAtMs: numberOrNull(row.old_secret_ends_at_ms),
    off: offAt === null || reason === null ? undefined : { atMs: Number(offAt), reason },
    failingSinceMs: numberOrNull(row.failing_since_ms),
    dropped: Number(row.dropped),
  }
}

/** The types of the column `events`. A type that this version does not know is left out. */
export function eventsFrom(json: string): readonly EventType[] {
  return (JSON.parse(json) as readonly string[]).filter((type): type is EventType => type in eventTypes)
}

export function messageFrom(row: MessageRow): WebhookMessage {
  return {
    publicId: row.public_id,
    event: { publicId: row.event_public_id, type: row.type, atMs: Number(row.event_at_ms) },
    state: row.state,
    attempts: Number(row.attempts),
    nextAttemptAtMs: numberOrNull(row.next_attempt_at_ms),
    latest: attemptFrom(row),
  }
}

function attemptFrom(row: MessageRow): Attempt | undefined {
  const { attempted_at_ms: atMs, duration_ms: durationMs, status, problem } = row
  if (atMs === null || durationMs === null) return undefined
  return { atMs: Number(atMs), durationMs: Number(durationMs), status: numberOrNull(status), problem }
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
