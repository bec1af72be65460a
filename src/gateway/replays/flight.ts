import { GatewayError } from '../../domain/errors.ts'
import type { TextCall, TextReply } from '../text-call.ts'

type Client = TextCall['client']
type Landed = TextReply | undefined

/**
 * A request on its way to its answer, and the identical ones that wait for it. Until the answer is there, the call goes on
 * while any of them does: in the place of the leader's client, the call is given the flight.
 */
export class Flight implements Client {
  readonly #leader: Client
  #followers: Set<(landed: Landed) => void> | undefined
  /** Made only where the call asks for its client's signal. */
  #controller: AbortController | undefined
  #isLeaderGone = false
  #hasLanded = false
  #share: (() => Landed) | undefined

  constructor(leader: Client) {
    this.#leader = leader
  }

  /** Fires when the leader and every follower has left before the answer was there. */
  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal
    const controller = (this.#controller = new AbortController())
    const { signal } = this.#leader
    if (signal.aborted) this.#leaderLeaves()
    else signal.addEventListener('abort', this.#leaderLeaves, { once: true })
    return controller.signal
  }

  /**
   * Waits for the answer and gets its share of it; undefined where there is nothing to share. Rejects when `client` leaves
   * first.
   */
  join(client: Client): Promise<Landed> {
    if (this.#hasLanded) return Promise.resolve(this.#share?.())
    const { promise, resolve, reject } = Promise.withResolvers<Landed>()
    const { signal } = client
    const followers = (this.#followers ??= new Set())
    const onLanded = (landed: Landed) => {
      signal.removeEventListener('abort', onLeave)
      resolve(landed)
    }
    const onLeave = () => {
      followers.delete(onLanded)
      this.#abortIfDeserted()
      reject(new GatewayError('upstream_error', 'The request ended before the model answered.'))
    }
    followers.add(onLanded)
    if (signal.aborted) onLeave()
    else signal.addEventListener('abort', onLeave, { once: true })
    return promise
  }

  /**
   * The answer is there: `share` makes each follower's reply, at once for those who wait. Without it there is nothing to
   * share. Landing twice changes nothing.
   */
  land(share?: () => Landed): void {
    if (this.#hasLanded) return
    this.#hasLanded = true
    this.#share = share
    if (this.#controller !== undefined) this.#leader.signal.removeEventListener('abort', this.#leaderLeaves)
    const followers = this.#followers
    if (followers === undefined) return
    this.#followers = undefined
    for (const onLanded of followers) onLanded(share?.())
  }

  readonly #leaderLeaves = () => {
    this.#isLeaderGone = true
    this.#abortIfDeserted()
  }

  #abortIfDeserted(): void {
    const followers = this.#followers?.size ?? 0
    if (this.#isLeaderGone && followers === 0) this.#controller?.abort()
  }
}
