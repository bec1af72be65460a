import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/nodes/leases.ts'
import type { PostOutcome, UntrustedPost } from '../gateway/ports/providers/untrusted-post.ts'
import type { DueMessage, WebhookQueue } from '../gateway/ports/events/webhooks.ts'
import { signedHeaders, type Hmac } from '../gateway/webhooks/sign-message.ts'
import { DeliveryTurns, type Delivery } from './delivery-turns.ts'

/** A receiver should answer first and work later. */
const TIMEOUT_MS = 10_000
/** Messages leave within a second. */
const LOOK_EVERY_MS = 750
const WEBHOOKS_MAX = 32
const MESSAGES_MAX = 20
/** The state of a webhook without new messages is forgotten after this time. */
const FAILING_MS = 60_000
/** How long events and their messages are kept. */
const KEPT_MS = 30 * 24 * 3_600_000
/** Removing more in one step would delay the steps of others. */
const REMOVED_MAX = 500
/** The lease of the node that removes them, and how often one does. */
const REMOVAL_LEASE = 'old webhook events'
const REMOVE_EVERY_MS = 60_000
const PROBLEM_CHARS_MAX = 200

export type DeliveryPorts = {
  readonly queue: WebhookQueue
  readonly leases: Leases
  readonly clock: Clock
  /** The clock of this machine, for the time of signatures: receivers compare it with theirs. */
  readonly ownClock: Pick<Clock, 'now'>
  readonly post: UntrustedPost
  readonly hmac: Hmac
  /** Whether webhooks of the operator may be in private networks. */
  readonly allowsPrivate: boolean
  /** Called with the error if an attempt could not be read or recorded. */
  readonly onFailed: (error: unknown) => void
}

/** Delivers the messages of webhooks, and removes old events. */
export function webhookDeliveries(ports: DeliveryPorts): DeliveryTurns {
  const { queue, leases, clock, onFailed } = ports
  return new DeliveryTurns({
    leases,
    clock,
    lookEveryMs: LOOK_EVERY_MS,
    receiversMax: WEBHOOKS_MAX,
    messagesMax: MESSAGES_MAX,
    messageMsMax: TIMEOUT_MS,
    failingMs: FAILING_MS,
    leaseNameOf: id => `webhook ${id}`,
    due: of => queue.due(clock.now(), of),
    deliverNext: async (id, signal) => {
      const message = await queue.next(id, clock.now())
      return message === undefined ? 'none' : deliver(message, signal, ports)
    },
    cleanUp: removalOfOldEvents(ports),
    onFailed,
  })
}

/** Removes old events a minute after the last time, on one node, until no more are left. */
function removalOfOldEvents({ queue, leases, clock }: DeliveryPorts): () => Promise<void> {
  let nextAtMs = -Infinity
  return async () => {
    if (clock.monotonicMs() < nextAtMs) return
    nextAtMs = clock.monotonicMs() + REMOVE_EVERY_MS
    const lease = await leases.take(REMOVAL_LEASE, REMOVE_EVERY_MS)
    if (lease === undefined) return
    const removed = await queue.removeBefore(clock.now() - KEPT_MS, REMOVED_MAX)
    // Otherwise the lease lasts, so that the other nodes need not look.
    if (removed < REMOVED_MAX) return
    await lease.release()
    nextAtMs = -Infinity
  }
}

/** Attempts to deliver a message, and records the outcome. */
async function deliver(message: DueMessage, signal: AbortSignal, ports: DeliveryPorts): Promise<Delivery> {
  const { queue, clock } = ports
  const atMs = clock.now()
  const startMs = clock.monotonicMs()
  const outcome = await send(message, signal, ports)
  // The process stops, so this was no failure of the receiver. The next process delivers the message again.
  if (signal.aborted && outcome.outcome === 'failed') return 'failed'
  const status = outcome.outcome === 'answered' ? outcome.status : null
  const problem = problemOf(outcome)?.slice(0, PROBLEM_CHARS_MAX) ?? null
  await queue.record(message, { atMs, durationMs: clock.monotonicMs() - startMs, status, problem })
  return problem === null ? 'delivered' : 'failed'
}

async function send(
  { publicId, url, body, secrets, isOperators }: DueMessage,
  signal: AbortSignal,
  { post, hmac, ownClock, allowsPrivate }: DeliveryPorts,
): Promise<PostOutcome> {
  if (secrets.length === 0)
    return {
      outcome: 'refused',
      problem: 'the secret cannot be decrypted; rotate the secret of the webhook',
    }
  return post(url, {
    headers: signedHeaders({ id: publicId, body, secrets }, { nowMs: ownClock.now(), hmac }),
    body,
    timeoutMs: TIMEOUT_MS,
    signal,
    allowsPrivate: isOperators && allowsPrivate,
  })
}

/** Undefined for a success. A redirect is a failure, because its target was not checked by the operator. */
function problemOf(outcome: PostOutcome): string | undefined {
  if (outcome.outcome !== 'answered') return outcome.problem
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : `status ${status}`
}
