import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import type { Clock } from '../ports/clock.ts'
import {
  fingerprintOf,
  type Fingerprint,
  type FirstRequest,
  type KeptAnswer,
  type ReplayBudget,
  type Replays,
} from '../ports/requests/replays.ts'
import type { Flight, SharedCache } from '../ports/requests/shared-cache.ts'
import type { TextCall } from '../text/text-call.ts'
import type { StreamedAnswer, TextResult, CompleteAnswer } from '../text/text-result.ts'
import { InFlightRequest, laggedReaderError } from './in-flight-request.ts'
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
    const digest = this.#ports.sha256(identityOf(call))
    const fingerprint = fingerprintOf({ apiKeyId, apiKey, route, digest })
    const identical = { fingerprint, call, dialect }
    const earlier = this.#inFlight.get(fingerprint.key)
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
    const { fingerprint, call } = identical
    let earlier: InFlightRequest | undefined = first
    while (earlier !== undefined && clock.monotonicMs() < patientUntilMs) {
      const shared = await earlier.join(call.client)
      if (shared !== undefined) return reportReplay(shared, call)
      earlier = this.#inFlight.get(fingerprint.key)
    }
    return this.#lead(identical, patientUntilMs, answer)
  }

  /** An await between the last lookup and this registration would let two identical requests call the model. */
  async #lead(
    { fingerprint, call, dialect }: Identical,
    patientUntilMs: number,
    answer: AnswerText,
  ): Promise<TextResult> {
    const request = new InFlightRequest(call.client)
    this.#inFlight.set(fingerprint.key, request)
    const run: Run = { request, fingerprint, call, dialect, flight: undefined }
    try {
      const { replays, shared } = this.#ports
      const ours = await replays.find(fingerprint)
      const kept =
        ours ?? (shared === undefined ? undefined : await this.#takeTurn(run, shared, patientUntilMs))
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
  async #takeTurn(
    run: Run,
    shared: NonNullable<CoalescerPorts['shared']>,
    patientUntilMs: number,
  ): Promise<KeptAnswer | undefined> {
    const { clock } = this.#ports
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
  #forget({ fingerprint: { key }, request, flight }: Run): void {
    // Changes nothing if its answer was kept.
    void flight?.land('not_kept')
    // After `patienceMs`, another request may have taken its place.
    if (this.#inFlight.get(key) === request) this.#inFlight.delete(key)
    request.end()
  }
}

/** A request with what makes others identical to it. */
type Identical = {
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
