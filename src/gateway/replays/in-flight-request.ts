import { GatewayError } from '../../domain/errors.ts'
import { formatId } from '../../domain/ids.ts'
import { joinBytes, type Bytes } from '../../domain/bytes.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import { BLANK_LINE } from '../../protocol/sse/frame.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import { DisconnectSignal } from '../text/disconnect-signal.ts'
import type { TextCall } from '../text/text-call.ts'
import type { TextResult } from '../text/text-result.ts'

type Client = TextCall['client']

/** Makes a follower's result of the shared answer; undefined if the answer can no longer be shared. */
type Share = () => TextResult | undefined

/**
 * A request that is being answered, and the identical requests that wait for the same answer: one leader and its
 * followers. The call gets this object instead of the leader's client, so it continues until all of them have
 * disconnected.
 */
export class InFlightRequest implements Client {
  #leader: Client | undefined
  #followers: Set<Follower> | undefined
  /** Made only if the call reads its client's signal. */
  #allDisconnected: DisconnectSignal | undefined
  #onLeaderDisconnect: (() => void) | undefined
  #isSettled = false
  #share: Share | undefined

  constructor(leader: Client) {
    this.#leader = leader
  }

  /** Fires when the leader and every follower have disconnected before the answer arrived. */
  get signal(): DisconnectSignal {
    return this.#allDisconnected ?? this.#watchLeader()
  }

  /**
   * Waits for the answer and returns a share of it; undefined if there is nothing to share. Rejects if `client`
   * disconnects before.
   */
  join(client: Client): Promise<TextResult | undefined> {
    if (this.#isSettled) return Promise.resolve(this.#share?.())
    const { promise, resolve, reject } = Promise.withResolvers<TextResult | undefined>()
    const { signal } = client
    const followers = (this.#followers ??= new Set())
    const follower: Follower = share => {
      signal.removeEventListener('abort', onDisconnect)
      resolve(share?.())
    }
    const onDisconnect = () => {
      followers.delete(follower)
      this.#abortIfAllDisconnected()
      reject(new GatewayError('upstream_error', 'The request ended before the model answered.'))
    }
    followers.add(follower)
    if (signal.aborted) onDisconnect()
    else signal.addEventListener('abort', onDisconnect)
    return promise
  }

  /**
   * Ends the wait of all followers. `share` makes the result of each, and of those that join later; without it there is
   * nothing to share. Settling again changes nothing.
   */
  settle(share?: Share): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#share = share
    if (this.#onLeaderDisconnect !== undefined)
      this.#leader?.signal.removeEventListener('abort', this.#onLeaderDisconnect)
    const followers = this.#followers ?? []
    this.#followers = undefined
    for (const follower of followers) follower(share)
  }

  /**
   * Ends it for all. Call it when no other request can find it. It drops its references, because the runtime frees
   * objects that were in a changing Map only in a full garbage collection.
   */
  end(): void {
    this.settle()
    this.#leader = undefined
    this.#share = undefined
  }

  #watchLeader(): DisconnectSignal {
    const allDisconnected = (this.#allDisconnected = new DisconnectSignal())
    const signal = this.#leader?.signal
    if (signal === undefined) return allDisconnected
    this.#onLeaderDisconnect = () => this.#abortIfAllDisconnected()
    if (signal.aborted) this.#abortIfAllDisconnected()
    else signal.addEventListener('abort', this.#onLeaderDisconnect)
    return allDisconnected
  }

  #abortIfAllDisconnected(): void {
    if (this.#allDisconnected === undefined || this.#leader?.signal.aborted !== true) return
    if (this.#followers === undefined || this.#followers.size === 0) this.#allDisconnected.fire()
  }
}

type Follower = (share: Share | undefined) => void

const TOO_SLOW =
  'This request followed the stream of an identical request and was read too slowly. Repeat it to get the whole answer.'

/** The last bytes for a follower that fell too far behind the stream, in the format of its route. */
export function laggedReaderError(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  nowMs: number,
): Bytes {
  if (!('openStream' in dialect)) return new Uint8Array()
  const request = dialect.readRequest(parseJsonObject(call.body))
  const stream = dialect.openStream(request, {
    model: request.model,
    limits: { inputTokensMax: undefined, outputTokensMax: undefined },
    fallback: { id: formatId('req', call.id), createdAtS: Math.floor(nowMs / 1000) },
  })
  return joinBytes([BLANK_LINE, stream.finish(null, new GatewayError('unavailable', TOO_SLOW))])
}
