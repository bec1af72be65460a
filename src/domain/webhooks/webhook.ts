import type { EventType } from './event.ts'

/** The longest time for which an old secret can sign beside the new one. */
export const OLD_SECRET_MS_MAX = 7 * 24 * 3_600_000

/** Why a webhook gets no messages: an operator switched it off, or all its messages failed for three days. */
export type OffReason = 'operator' | 'failing'

/** An address that gets signed messages about events. */
export type Webhook = {
  /** The store's integer key. Never shown. */
  readonly id: number
  /** `whk_…` */
  readonly publicId: string
  /** Undefined for a webhook of the operator. That of an account only gets events about this account. */
  readonly accountId: number | undefined
  readonly url: string
  readonly events: readonly EventType[]
  readonly note: string
  readonly createdAtMs: number
  /** The end of the secret before the latest rotation; null if there is none. */
  readonly oldSecretEndsAtMs: number | null
  /** Undefined while it gets messages. */
  readonly off: { readonly atMs: number; readonly reason: OffReason } | undefined
  /** Since when every attempt failed. Null if the latest one succeeded, and before the first. */
  readonly failingSinceMs: number | null
  /** The messages that were not queued, because its queue was full. */
  readonly dropped: number
}

/** The parts of a webhook that an operator can change. A part that is left out stays as it is. */
export type WebhookPatch = {
  readonly url?: string
  readonly events?: readonly EventType[]
  readonly note?: string
  readonly isOn?: boolean
}

export const messageStates = ['waiting', 'delivered', 'failed'] as const
export type MessageState = (typeof messageStates)[number]

/** The message of one event to one webhook. */
export type WebhookMessage = {
  /** `msg_…`, the `webhook-id` of every attempt. */
  readonly publicId: string
  readonly event: { readonly publicId: string; readonly type: EventType; readonly atMs: number }
  readonly state: MessageState
  readonly attempts: number
  /** Null unless it is waiting. */
  readonly nextAttemptAtMs: number | null
  /** Undefined before the first attempt. */
  readonly latest: Attempt | undefined
}

/** How one attempt ended. No part of the answer but its status is kept. */
export type Attempt = {
  readonly atMs: number
  readonly durationMs: number
  /** Null if no answer came. */
  readonly status: number | null
  /** Null if it succeeded. Otherwise a short text such as `status 500` or `connection: ECONNREFUSED`. */
  readonly problem: string | null
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The pauses before the second and each later attempt. Together they are nearly a day. */
const retryPausesMs = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  9 * HOUR,
] as const

/** The pause after a failed attempt. `earlier` are the attempts before it. Undefined if it was the last. */
export function retryPauseMs(earlier: number): number | undefined {
  return retryPausesMs[earlier]
}

/** A webhook whose attempts all failed for this long is switched off. */
const FAILING_MS_MAX = 3 * 24 * HOUR

/** What follows from an attempt to deliver a message. */
export type AfterAttempt = {
  readonly state: MessageState
  readonly attempts: number
  readonly nextAttemptAtMs: number | null
  readonly failingSinceMs: number | null
  readonly isSwitchedOff: boolean
}

/** Decides on the message and its webhook after an attempt. `attempts` are those before it. */
export function afterAttempt(
  {
    attempts: earlier,
    failingSinceMs,
  }: { readonly attempts: number; readonly failingSinceMs: number | null },
  { atMs, problem }: Attempt,
): AfterAttempt {
  const attempts = earlier + 1
  if (problem === null)
    return { state: 'delivered', attempts, nextAttemptAtMs: null, failingSinceMs: null, isSwitchedOff: false }
  const sinceMs = failingSinceMs ?? atMs
  const isSwitchedOff = atMs - sinceMs >= FAILING_MS_MAX
  const pauseMs = retryPauseMs(earlier)
  const isOver = isSwitchedOff || pauseMs === undefined
  return {
    state: isOver ? 'failed' : 'waiting',
    attempts,
    nextAttemptAtMs: isOver ? null : atMs + pauseMs,
    failingSinceMs: sinceMs,
    isSwitchedOff,
  }
}
