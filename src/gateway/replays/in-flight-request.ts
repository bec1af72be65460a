import { GatewayError } from '../../domain/errors.ts'
import { DisconnectSignal } from '../disconnect-signal.ts'
import type { Fingerprint } from '../ports/replays.ts'
import type { TextCall, TextReply, TextTrace } from '../text/text-call.ts'

type Client = TextCall['client']

/** What a follower gets of an answer that is there; undefined where it is too late for a share. */
export type Share = () => TextReply | undefined

/**
 * A request on its way to its answer, and the identical ones that wait for it. Until the answer is there, the call goes on
 * while any of them does: in the place of the leader's client, the call is given the flight.
 */
export class InFlightRequest implements Client, Fingerprint {
  readonly apiKeyId: number
  readonly route: string
  readonly digest: Fingerprint['digest']
  /** Another flight of its bucket; for `Flights` alone. */
  before: InFlightRequest | undefined
  /** What becomes known of the request on its way. */
  readonly trace: TextTrace
  readonly #leader: Client
  #followers: Set<Follower> | undefined
  /** Made only where the call asks for its client's signal. */
  #deserted: DisconnectSignal | undefined
  #leaderLeaves: (() => void) | undefined
  #hasLanded = false
  #share: Share | undefined

  constructor({ apiKeyId, route, digest }: Fingerprint, leader: Pick<TextCall, 'client' | 'trace'>) {
    this.apiKeyId = apiKeyId
    this.route = route
    this.digest = digest
    this.trace = leader.trace
    this.#leader = leader.client
  }

  /** Fires when the leader and every follower has left before the answer was there. */
  get signal(): DisconnectSignal {
    return this.#deserted ?? this.#watchLeader()
  }

  /** Whether someone waits for this answer beside the one who asked. */
  get isFollowed(): boolean {
    return this.#followers !== undefined
  }

  /**
   * Waits for the answer and gets a share of it; undefined where there is nothing to share. Rejects when `client` leaves
   * first.
   */
  join(client: Client): Promise<TextReply | undefined> {
    if (this.#hasLanded) return Promise.resolve(this.#share?.())
    const { promise, resolve, reject } = Promise.withResolvers<TextReply | undefined>()
    const { signal } = client
    const followers = (this.#followers ??= new Set())
    const follower: Follower = share => {
      signal.removeEventListener('abort', onLeave)
      resolve(share?.())
    }
    const onLeave = () => {
      followers.delete(follower)
      this.#abortIfDeserted()
      reject(new GatewayError('upstream_error', 'The request ended before the model answered.'))
    }
    followers.add(follower)
    if (signal.aborted) onLeave()
    else signal.addEventListener('abort', onLeave)
    return promise
  }

  /**
   * The answer is there: `share` makes each follower's reply, at once for those who wait. Without it there is nothing to
   * share. Landing twice changes nothing.
   */
  land(share?: Share): void {
    if (this.#hasLanded) return
    this.#hasLanded = true
    this.#share = share
    if (this.#leaderLeaves !== undefined) this.#leader.signal.removeEventListener('abort', this.#leaderLeaves)
    const followers = this.#followers
    if (followers === undefined) return
    this.#followers = undefined
    for (const follower of followers) follower(share)
  }

  #watchLeader(): DisconnectSignal {
    const deserted = (this.#deserted = new DisconnectSignal())
    const { signal } = this.#leader
    this.#leaderLeaves = () => this.#abortIfDeserted()
    if (signal.aborted) this.#abortIfDeserted()
    else signal.addEventListener('abort', this.#leaderLeaves)
    return deserted
  }

  #abortIfDeserted(): void {
    if (this.#deserted === undefined || !this.#leader.signal.aborted) return
    if (this.#followers === undefined || this.#followers.size === 0) this.#deserted.fire()
  }
}

type Follower = (share: Share | undefined) => void
