import { mayUseModel } from '../../domain/accounts/key-access.ts'
import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatId } from '../../domain/ids.ts'
import { joinBytes } from '../../protocol/join-bytes.ts'
import { findJsonObject, parseJsonObject } from '../../protocol/json/parse-json.ts'
import { BLANK_LINE } from '../../protocol/sse/frame.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import { DisconnectSignal } from '../text/disconnect-signal.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Clock } from '../ports/clock.ts'
import {
  fingerprintKey,
  type Fingerprint,
  type FirstRequest,
  type KeptAnswer,
  type ReplayBudget,
  type Replays,
} from '../ports/replays.ts'
import type { Flight, SharedCache } from '../ports/shared-cache.ts'
import type { TextCall } from '../text/text-call.ts'
import type { StreamedAnswer, TextResult, CompleteAnswer } from '../text/text-result.ts'
import { COPY_BYTES_MAX, SharedStream, type StreamReader } from './shared-stream.ts'
import { takeTurn } from './take-turn.ts'

/** Answers a call without looking for identical ones. */
type AnswerText = (call: TextCall) => Promise<TextResult>

type CoalescerPorts = {
  /** The answers that this node keeps. */
  readonly replays: Replays
  /** The answers and the running requests of all nodes. Undefined if there is no shared cache. */
  readonly shared?: Pick<SharedCache, 'replays' | 'flights'> | undefined
  readonly budget: ReplayBudget
  readonly sha256: (text: string) => Fingerprint['digest']
  readonly clock: Clock
}

type Dialect = TextDialect | StreamDialect

/** The body, after the idempotency key if there is one. A body is JSON, so no body looks like one with a key. */
function identityOf({ body, idempotencyKey }: TextCall): string {
  return idempotencyKey === undefined
    ? body.text
    : `idempotency-key: ${JSON.stringify(idempotencyKey)}\n${body.text}`
}

/**
 * Answers identical requests of one API key once. If the answer is kept, a request gets it; if the answer is being
 * produced, the request waits for it or follows its stream. Such a request is not charged, and reads neither the
 * catalog nor the balance. Only answers are shared: after a failure, the next request in line calls the model itself.
 *
 * With a shared cache, the same holds for all nodes, with two differences: a request that runs on another node is
 * waited for, also if it is a stream, and after its failure each node calls the model.
 */
export class RequestCoalescer {
  readonly #ports: CoalescerPorts
  readonly #patienceMs: number
  readonly #inFlight = new Map<string, InFlightRequest>()

  /**
   * While the requests before it fail, a request waits for its turn, so that only one at a time calls the model. After
   * `patienceMs` it calls the model even if another request is in flight.
   */
  constructor(ports: CoalescerPorts, { patienceMs }: { readonly patienceMs: number }) {
    this.#ports = ports
    this.#patienceMs = patienceMs
  }

  answer(call: TextCall, dialect: Dialect, answer: AnswerText): Promise<TextResult> {
    const { route } = dialect
    const { id: apiKeyId, publicId: apiKey } = call.caller.apiKey
    const fingerprint = {
      apiKeyId,
      apiKey,
      route,
      digest: this.#ports.sha256(identityOf(call)),
    }
    const identical = { key: fingerprintKey(fingerprint), fingerprint, call, dialect }
    const earlier = this.#inFlight.get(identical.key)
    const patientUntilMs = this.#ports.clock.monotonicMs() + this.#patienceMs
    return earlier === undefined
      ? this.#lead(identical, patientUntilMs, answer)
      : this.#follow(earlier, identical, patientUntilMs, answer)
  }

  /** Waits for the requests before this one. If there is nothing to share, this request calls the model. */
  async #follow(
    first: InFlightRequest,
    identical: Identical,
    patientUntilMs: number,
    answer: AnswerText,
  ): Promise<TextResult> {
    const { clock } = this.#ports
    const { key, call } = identical
    let earlier: InFlightRequest | undefined = first
    while (earlier !== undefined && clock.monotonicMs() < patientUntilMs) {
      const shared = await earlier.join(call.client)
      if (shared !== undefined) return reportReplay(shared, call)
      earlier = this.#inFlight.get(key)
    }
    return this.#lead(identical, patientUntilMs, answer)
  }

  /** An await between the last lookup and this registration would let two identical requests call the model. */
  async #lead(
    { key, fingerprint, call, dialect }: Identical,
    patientUntilMs: number,
    answer: AnswerText,
  ): Promise<TextResult> {
    const request = new InFlightRequest(call.client)
    this.#inFlight.set(key, request)
    const run: Run = { request, key, fingerprint, call, dialect, flight: undefined }
    try {
      const kept =
        (await this.#ports.replays.find(fingerprint)) ?? (await this.#takeTurn(run, patientUntilMs))
      if (kept !== undefined) {
        request.settle(() => replayOf(kept))
        this.#forget(run)
        return reportReplay(replayOf(kept), call)
      }
      const result = await answer({ ...call, client: request })
      if (result.kind === 'stream') return this.#shareStream(run, result)
      if (result.kind === 'answer') this.#shareAnswer(run, result)
      else this.#forget(run)
      return result
    } catch (error) {
      this.#forget(run)
      throw error
    }
  }

  /** The answer that another node kept. Without one, this request is the one that calls the model. */
  async #takeTurn(run: Run, patientUntilMs: number): Promise<KeptAnswer | undefined> {
    const { shared, clock } = this.#ports
    if (shared === undefined) return undefined
    const { request, fingerprint } = run
    const turn = await takeTurn(fingerprint, shared, { clock, patientUntilMs, signal: () => request.signal })
    run.flight = turn.flight
    return turn.kept
  }

  /** The followers get the answer now. New requests join this one until the answer is kept. */
  #shareAnswer(run: Run, { contentType, model, body }: CompleteAnswer): void {
    const answer = { first: firstOf(run), contentType, model, body }
    run.request.settle(() => replayOf(answer))
    if (isSmall(body)) void this.#keep(run, answer).then(() => this.#forget(run))
    else this.#forget(run)
  }

  #shareStream(run: Run, answer: StreamedAnswer): StreamedAnswer {
    const { budget, clock } = this.#ports
    const stream = new SharedStream(answer.body, { budget, onClosed: () => this.#forget(run) })
    const openReader = () => stream.open(() => laggedReaderError(run.call, run.dialect, clock.now()))
    // A new stream can always be joined.
    const leader = openReader() as StreamReader
    run.request.settle(() => {
      const follower = openReader()
      return follower && { ...answer, ...REPLAY, first: firstOf(run), body: follower, ended: follower.ended }
    })
    void this.#keepStream(run, stream, answer)
    return { ...answer, body: leader }
  }

  async #keepStream(run: Run, stream: SharedStream, answer: StreamedAnswer): Promise<void> {
    await stream.sourceEnded
    // A complete stream is settled before its last bytes. One that is not settled by now has no readers left, but may
    // be read on for its charge for minutes. Its copy is dropped now.
    const { isWhole } = await Promise.race([answer.ended, NOT_WHOLE])
    const body = stream.copy()
    if (body !== undefined && isSmall(body) && isWhole) {
      const { contentType, model } = answer
      await this.#keep(run, { first: firstOf(run), contentType, model, body })
    }
    stream.close()
  }

  /** Keeps an answer on this node and for the others, and lands the flight. */
  async #keep({ fingerprint, flight }: Run, answer: KeptAnswer): Promise<void> {
    const { replays, shared } = this.#ports
    const keeping = replays.keep(fingerprint, answer)
    const sharing = shared?.replays.keep(fingerprint, answer)
    void flight?.land('kept')
    await keeping
    await sharing
  }

  /** Ends a request: no other request can join it, and waiting requests get no share. */
  #forget({ key, request, flight }: Run): void {
    // Changes nothing if its answer was kept.
    void flight?.land('not_kept')
    // After `patienceMs`, another request may have taken its place.
    if (this.#inFlight.get(key) === request) this.#inFlight.delete(key)
    request.end()
  }
}

/** A request with what makes others identical to it. */
type Identical = {
  readonly key: string
  readonly fingerprint: Fingerprint
  readonly call: TextCall
  readonly dialect: Dialect
}

type Run = Identical & {
  readonly request: InFlightRequest
  /** With a shared cache, while this node answers. */
  flight: Flight | undefined
}

const UTF8_BYTES_PER_UNIT_MAX = 3
const encoder = new TextEncoder()

/**
 * Whether an answer is small enough to be kept, by its length in UTF-8. Most texts are so short that their bytes need
 * no count.
 */
function isSmall(body: CompleteAnswer['body']): boolean {
  if (typeof body !== 'string') return body.length <= COPY_BYTES_MAX
  return (
    body.length * UTF8_BYTES_PER_UNIT_MAX <= COPY_BYTES_MAX ||
    (body.length <= COPY_BYTES_MAX && encoder.encode(body).length <= COPY_BYTES_MAX)
  )
}

const NOT_WHOLE = Promise.resolve({ isWhole: false })

/** Rate limits and `Retry-After` were for the first request. */
const REPLAY = { rateLimits: [], retryAfter: undefined, isReplay: true } as const

function replayOf(answer: KeptAnswer): CompleteAnswer {
  return { ...REPLAY, kind: 'answer', ...answer, usage: null, cost: null }
}

/** Its end user is known when its body was read, which replays do not need. */
function firstOf({ call: { id, record } }: Run): FirstRequest {
  return { id, ...(record.userId !== undefined && { userId: record.userId }) }
}

function reportReplay(result: TextResult, { record }: TextCall): TextResult {
  record.isReplay = true
  if (result.kind === 'answer' || result.kind === 'stream') {
    const { model, first } = result
    record.model = model
    if (first !== undefined) record.replayOf = first.id
    if (first?.userId !== undefined) record.userId = first.userId
  }
  return result
}

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
): Uint8Array<ArrayBuffer> {
  if (!('openStream' in dialect)) return new Uint8Array()
  const request = dialect.readRequest(parseJsonObject(call.body))
  const stream = dialect.openStream(request, {
    model: request.model,
    limits: { inputTokensMax: undefined, outputTokensMax: undefined },
    fallback: { id: formatId('req', call.id), createdAtS: Math.floor(nowMs / 1000) },
  })
  return joinBytes([BLANK_LINE, stream.finish(null, new GatewayError('unavailable', TOO_SLOW))])
}

/**
 * Returns a function that says whether identical requests may share an answer: neither their account nor the row of
 * their model has switched replays off, and their key may call the model. A request whose key may not is refused on its
 * way to the model. It reads a request's model only if some row has switched replays off, or the key has models.
 */
export function replaySwitch(
  store: Pick<CatalogStore, 'current'>,
): (call: Pick<TextCall, 'body' | 'caller'>) => boolean {
  let known: Catalog | undefined
  let isAnyOff = false
  return ({ body, caller }) => {
    if (caller.account.replays === false) return false
    const catalog = store.current()
    if (catalog !== known) {
      known = catalog
      isAnyOff = catalog.models.values().some(isOff)
    }
    const { settings } = caller.apiKey
    const isRestricted = settings?.models !== undefined
    if (!isAnyOff && !isRestricted) return true
    const name = findJsonObject(body.text)?.['model']
    const model = typeof name === 'string' ? findModel(catalog, name) : undefined
    if (model === undefined) return !isRestricted
    return !isOff(model) && mayUseModel(settings, model)
  }
}

function isOff(model: Model): boolean {
  return (model.kind === 'chat' || model.kind === 'embedding') && model.replays === false
}
