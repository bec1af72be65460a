import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { Clock } from '../ports/clock.ts'
import type { Fingerprint, KeptAnswer, ReplayBudget, Replays } from '../ports/replays.ts'
import type { TextCall, TextReply, TextTrace } from '../text/text-call.ts'
import { InFlightRequest } from './in-flight-request.ts'
import { Flights } from './flights.ts'
import { laggedReaderError } from './lagged-reader-error.ts'
import { COPY_BYTES_MAX, SharedStream } from './shared-stream.ts'

const BYTES_PER_UNIT_MAX = 3

const encoder = new TextEncoder()

/** Answers a request of a route as if there were no other. */
export type Answer = (call: TextCall) => Promise<TextReply>

export type CoalescerPorts = {
  readonly replays: Replays
  readonly budget: ReplayBudget
  readonly sha256: (text: string) => Fingerprint['digest']
  readonly clock: Clock
}

type Dialect = TextDialect | StreamDialect

/**
 * Answers identical requests of one API key once. One whose answer is kept gets that; one that is running already is waited
 * for, or its stream followed. Neither is charged, and neither looks at the catalog or the balance. Only a success is
 * shared: after a failure the next in line asks for itself.
 */
export class RequestCoalescer {
  readonly #ports: CoalescerPorts
  readonly #patienceMs: number
  readonly #flights = new Flights()
  /** Those that the last answer was kept with, which are those of most. */
  #lastHeaders: KeptAnswer['headers'] = {}

  /**
   * While others fail before it, a request waits for its turn, so that the model is asked once at a time. After `patienceMs` of
   * that it asks whether or not another one is running.
   */
  constructor(ports: CoalescerPorts, { patienceMs }: { readonly patienceMs: number }) {
    this.#ports = ports
    this.#patienceMs = patienceMs
  }

  /** Most requests are like no other: their way leads through `#lead` and `#fly`, and makes little more than a flight. */
  answer(call: TextCall, dialect: Dialect, answer: Answer): TextReply | Promise<TextReply> {
    const { route } = dialect
    const flight = new InFlightRequest(
      { apiKeyId: call.caller.apiKey.id, route, digest: this.#ports.sha256(call.body.text) },
      call,
    )
    const earlier = this.#flights.find(flight)
    return earlier === undefined
      ? this.#lead(flight, call, dialect, answer)
      : this.#follow(earlier, flight, call, dialect, answer)
  }

  async #follow(
    earlier: InFlightRequest,
    flight: InFlightRequest,
    call: TextCall,
    dialect: Dialect,
    answer: Answer,
  ): Promise<TextReply> {
    const impatientAtMs = this.#ports.clock.now() + this.#patienceMs
    let next: InFlightRequest | undefined = earlier
    do {
      const reply = await next.join(call.client)
      if (reply !== undefined) return markReplay(reply, next.trace.model, call)
      next = this.#flights.find(flight)
    } while (next !== undefined && this.#ports.clock.now() < impatientAtMs)
    return this.#lead(flight, call, dialect, answer)
  }

  #lead(
    flight: InFlightRequest,
    call: TextCall,
    dialect: Dialect,
    answer: Answer,
  ): TextReply | Promise<TextReply> {
    const found = this.#ports.replays.find(flight)
    if (found !== undefined && !(found instanceof Promise))
      return markReplay(replayOf(found), found.model, call)
    this.#flights.add(flight)
    return this.#fly(flight, call, dialect, answer, found)
  }

  async #fly(
    flight: InFlightRequest,
    call: TextCall,
    dialect: Dialect,
    answer: Answer,
    finding: Promise<KeptAnswer | undefined> | undefined,
  ): Promise<TextReply> {
    try {
      const kept = finding === undefined ? undefined : await finding
      if (kept !== undefined) {
        flight.land(() => replayOf(kept))
        this.#forget(flight)
        return markReplay(replayOf(kept), kept.model, call)
      }
      const { id, caller, body: asked, trace } = call
      const reply = await answer({ id, caller, body: asked, client: flight, trace })
      const { status, body } = reply
      if (status !== 200) this.#forget(flight)
      else if (typeof body === 'string' || body instanceof Uint8Array)
        this.#share(flight, this.#keptAnswer(reply, body, trace))
      else return this.#shareStream(flight, { ...reply, body }, { call, dialect })
      return reply
    } catch (error) {
      this.#forget(flight)
      throw error
    }
  }

  #share(flight: InFlightRequest, answer: KeptAnswer): void {
    const keeping = isSmall(answer.body) ? this.#ports.replays.keep(flight, answer) : undefined
    // Until it is kept, or where it is not, those who came meanwhile get it from the flight.
    if (keeping !== undefined || flight.isFollowed) flight.land(() => replayOf(answer))
    if (keeping === undefined) this.#forget(flight)
    else void keeping.then(() => this.#forget(flight))
  }

  #shareStream(
    flight: InFlightRequest,
    reply: TextReply & { readonly body: ByteStream },
    { call, dialect }: { readonly call: TextCall; readonly dialect: Dialect },
  ): TextReply {
    const { budget, clock } = this.#ports
    const stream = new SharedStream(reply.body, { budget, onClosed: () => this.#forget(flight) })
    const openReader = () => stream.open(() => laggedReaderError(call, dialect, clock.now()))
    const headers = this.#keptHeaders(reply)
    // A new stream is open.
    const body = openReader() as ByteStream
    flight.land(() => {
      const follower = openReader()
      return follower && { status: 200, headers, body: follower, ended: follower.done, cost: null }
    })
    void this.#keepStream(flight, stream, reply)
    return { ...reply, body }
  }

  async #keepStream(flight: InFlightRequest, stream: SharedStream, reply: TextReply): Promise<void> {
    const [, ending] = await Promise.all([stream.over, reply.ended])
    const copy = stream.copy()
    if (copy !== undefined && copy.byteLength <= COPY_BYTES_MAX && ending?.isWhole === true) {
      await this.#ports.replays.keep(flight, this.#keptAnswer(reply, copy, flight.trace))
    }
    stream.close()
  }

  #keptAnswer(reply: TextReply, body: KeptAnswer['body'], { model }: TextTrace): KeptAnswer {
    return { headers: this.#keptHeaders(reply), model, body }
  }

  /** The same object as long as they stay the same, so that a store need not write them out for each answer. */
  #keptHeaders({ headers }: TextReply): KeptAnswer['headers'] {
    const last = this.#lastHeaders
    if (KEPT_HEADERS.every(name => headers[name] === last[name])) return last
    const kept: Record<string, string> = {}
    for (const name of KEPT_HEADERS) {
      const value = headers[name]
      if (value !== undefined) kept[name] = value
    }
    return (this.#lastHeaders = kept)
  }

  /** Nobody joins this flight any more. Who waits for it still is told that there is nothing to share. */
  #forget(flight: InFlightRequest): void {
    this.#flights.remove(flight)
    flight.land()
  }
}

/**
 * In bytes, as it leaves. Nearly every text is so short that they need not be counted. A larger answer is not kept; those who
 * wait for it get it all the same.
 */
function isSmall(body: KeptAnswer['body']): boolean {
  if (typeof body !== 'string') return body.length <= COPY_BYTES_MAX
  return (
    body.length * BYTES_PER_UNIT_MAX <= COPY_BYTES_MAX ||
    (body.length <= COPY_BYTES_MAX && encoder.encode(body).length <= COPY_BYTES_MAX)
  )
}

function replayOf({ headers, body }: KeptAnswer): TextReply {
  return { status: 200, headers, body, cost: null }
}

function markReplay(reply: TextReply, model: string | undefined, { trace }: TextCall): TextReply {
  trace.isReplay = true
  if (model !== undefined) trace.model = model
  return { ...reply, isReplay: true }
}

/** What an upstream said of its rate limits was for the first request. */
const KEPT_HEADERS = ['content-type', 'cache-control', 'x-accel-buffering'] as const
