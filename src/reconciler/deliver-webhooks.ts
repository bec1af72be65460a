import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/leases.ts'
import type { PostOutcome, UntrustedPost } from '../gateway/ports/untrusted-post.ts'
import type { DueMessage, WebhookQueue } from '../gateway/ports/webhooks.ts'
import { signedHeaders, type Hmac } from '../gateway/webhooks/sign-message.ts'

/** A receiver should answer first and work later. */
const TIMEOUT_MS = 10_000
/** Webhooks that are served at the same time. */
const WEBHOOKS_MAX = 32
/** The messages of one webhook in one turn, so that others get theirs. */
const MESSAGES_MAX = 20
/** Longer than a turn: no webhook is served by two nodes at the same time. */
const LEASE_MS = TIMEOUT_MS * MESSAGES_MAX + 60_000
/**
 * After failures in a row, the other messages of the webhook wait too: a receiver that is down must not keep a place.
 */
const REST_MS = 4000
const REST_MS_MAX = 60_000
/** Messages leave within a second. */
const LOOK_EVERY_MS = 750
/** How long events and their messages are kept. */
const KEPT_MS = 30 * 24 * 3_600_000
/** Removing more in one step would delay the steps of others. */
const REMOVED_MAX = 500
const PROBLEM_CHARS_MAX = 200

export type DeliveryPorts = {
  readonly queue: WebhookQueue
  readonly leases: Leases
  readonly clock: Clock
  readonly post: UntrustedPost
  readonly hmac: Hmac
  /** Whether webhooks of the operator may be in private networks. */
  readonly allowsPrivate: boolean
  /** Called with the error if an attempt could not be read or recorded. */
  readonly onFailed: (error: unknown) => void
}

/** Delivers the messages of webhooks. No request waits for it: it only reads what requests have recorded. */
export class WebhookDeliverer {
  readonly #ports: DeliveryPorts
  readonly #stopping = new AbortController()
  readonly #busy = new Map<number, Promise<void>>()
  /** The webhooks that rest after failures, until an instant of the monotonic clock. */
  readonly #resting = new Map<number, { readonly untilMs: number; readonly restMs: number }>()
  #cancel = () => {}

  constructor(ports: DeliveryPorts) {
    this.#ports = ports
  }

  /** Looks for messages now and every 750 ms, until `stop` is called. */
  start(): void {
    const look = async () => {
      await this.look().catch(this.#ports.onFailed)
      if (!this.#stopping.signal.aborted)
        this.#cancel = this.#ports.clock.after(LOOK_EVERY_MS, () => void look())
    }
    void look()
  }

  /** Ends running attempts, which count as failed, and waits until they are recorded. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await this.idle()
  }

  /** Begins a turn for each webhook with messages that has none, and removes old events. */
  async look(): Promise<void> {
    const { queue, clock } = this.#ports
    const busy = new Set([...this.#busy.keys(), ...this.#restingNow(clock.monotonicMs())])
    const limit = WEBHOOKS_MAX - this.#busy.size
    for (const id of await queue.due(clock.now(), { limit, busy })) {
      const turn = this.#turn(id)
        .catch(this.#ports.onFailed)
        .finally(() => this.#busy.delete(id))
      this.#busy.set(id, turn)
    }
    await queue.removeBefore(clock.now() - KEPT_MS, REMOVED_MAX)
  }

  #restingNow(nowMs: number): readonly number[] {
    for (const [id, { untilMs }] of this.#resting) if (untilMs + REST_MS_MAX < nowMs) this.#resting.delete(id)
    return [...this.#resting].filter(([, { untilMs }]) => untilMs > nowMs).map(([id]) => id)
  }

  /** Each rest in a row is twice as long as the one before. */
  #rest(id: number): void {
    const earlier = this.#resting.get(id)
    const restMs = earlier === undefined ? REST_MS : Math.min(2 * earlier.restMs, REST_MS_MAX)
    this.#resting.set(id, { untilMs: this.#ports.clock.monotonicMs() + restMs, restMs })
  }

  /** Resolves when the running turns have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#busy.values())
  }

  /** Delivers messages of one webhook, one after the other, until one fails. */
  async #turn(id: number): Promise<void> {
    const { queue, leases, clock } = this.#ports
    const lease = await leases.take(`webhook ${id}`, LEASE_MS)
    if (lease === undefined) return
    try {
      for (let sent = 0; sent < MESSAGES_MAX && !this.#stopping.signal.aborted; sent += 1) {
        const message = await queue.next(id, clock.now())
        if (message === undefined) return
        if (!(await this.#deliver(message))) return this.#rest(id)
        this.#resting.delete(id)
      }
    } finally {
      await lease.release()
    }
  }

  /** Attempts to deliver a message. Returns whether the receiver took it. */
  async #deliver(message: DueMessage): Promise<boolean> {
    const { queue, clock } = this.#ports
    const atMs = clock.now()
    const startMs = clock.monotonicMs()
    const outcome = await this.#send(message, atMs)
    // The process stops, so this was no failure of the receiver. The next process delivers the message again.
    if (this.#stopping.signal.aborted && outcome.outcome === 'failed') return false
    const status = outcome.outcome === 'answered' ? outcome.status : null
    const problem = problemOf(outcome)?.slice(0, PROBLEM_CHARS_MAX) ?? null
    await queue.record(message, { atMs, durationMs: clock.monotonicMs() - startMs, status, problem })
    return problem === null
  }

  async #send(
    { publicId, url, body, secrets, isOperators }: DueMessage,
    nowMs: number,
  ): Promise<PostOutcome> {
    const { post, hmac, allowsPrivate } = this.#ports
    if (secrets.length === 0)
      return {
        outcome: 'refused',
        problem: 'the secret cannot be decrypted; rotate the secret of the webhook',
      }
    return post(url, {
      headers: signedHeaders({ id: publicId, body, secrets }, { nowMs, hmac }),
      body,
      timeoutMs: TIMEOUT_MS,
      signal: this.#stopping.signal,
      allowsPrivate: isOperators && allowsPrivate,
    })
  }
}

/** Undefined for a success. A redirect is a failure, because its target was not checked by the operator. */
function problemOf(outcome: PostOutcome): string | undefined {
  if (outcome.outcome !== 'answered') return outcome.problem
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : `status ${status}`
}
