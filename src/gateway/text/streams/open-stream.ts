import type { Bytes } from '../../../domain/bytes.ts'
import { asksForUsage } from '../../../domain/catalog/provider.ts'
import { formatId } from '../../../domain/ids.ts'
import type { Heartbeat, StreamDialect, TextStream } from '../../../protocol/text-dialect.ts'
import { DisconnectSignal } from '../disconnect-signal.ts'
import type { CallerSignal } from '../../ports/caller-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RateLimits, StreamEnd, UpstreamStream } from '../../ports/providers/text-provider.ts'
import { attemptResult, type AttemptFailure, type AttemptResult } from '../../upstreams/attempt-result.ts'
import type { Destination } from '../../upstreams/destinations.ts'
import { streamIdleTimeoutMs } from '../../upstreams/timeouts.ts'
import { upstreamSecrets } from '../../upstreams/upstream-secrets.ts'
import type { AdmittedRequest } from '../admit-text.ts'
import { upstreamCall } from '../call-upstreams.ts'
import { reportedUsageLimits } from '../price-text.ts'
import type { TextPorts, TextSettings } from '../text-ports.ts'
import { SILENCE, WatchedUpstream } from './watched-upstream.ts'

/** A stream whose first bytes have arrived. */
export type OpenedStream = {
  readonly rateLimits: RateLimits
  readonly retryAfter: string | undefined
  readonly reportedCost: string | null
  readonly upstream: UpstreamStream
  /** The same as `upstream`, for a stream with heartbeats or one that may be read on without its client. */
  readonly watched?: WatchedUpstream
  readonly stream: TextStream
  /** The first bytes for the client. They are empty only if the stream has ended. */
  readonly first: Bytes
}

type StreamResult =
  | { readonly kind: 'stream'; readonly status: number; readonly opened: OpenedStream }
  | Exclude<AttemptResult, { kind: 'answer' }>

/**
 * Opens the stream of one upstream and reads until something can go to the client. Until then nothing has been sent, so
 * another upstream can be called, or the client can get an error status. If the client disconnects, the upstream's call
 * ends. If `mayGiveUp`, it also ends when its first byte does not come within the limit of the model or the provider.
 *
 * After it was opened, the stream of a provider with `finish_aborted` continues without its client.
 */
export async function openStream(
  admitted: AdmittedRequest<StreamDialect>,
  destination: Destination,
  settings: TextSettings,
  ports: OpenPorts,
  { mayGiveUp }: { readonly mayGiveUp: boolean },
): Promise<StreamResult> {
  if (destination.provider.finishAborted === undefined)
    return openInTime({ admitted, destination, client: admitted.call.client }, settings, ports, { mayGiveUp })
  const signal = new DisconnectSignal()
  const unfollow = signal.follow(admitted.call.client.signal)
  const opening = { admitted, destination, client: { signal } }
  const result = await openInTime(opening, settings, ports, { mayGiveUp })
  unfollow()
  return result
}

type Opening = {
  readonly admitted: AdmittedRequest<StreamDialect>
  readonly destination: Destination
  readonly client: { readonly signal: CallerSignal }
}

async function openInTime(
  { admitted, destination, client }: Opening,
  settings: TextSettings,
  ports: OpenPorts,
  { mayGiveUp }: { readonly mayGiveUp: boolean },
): Promise<StreamResult> {
  const limitMs = admitted.model.firstByteTimeoutMs ?? destination.provider.firstByteTimeoutMs
  if (limitMs === undefined || !mayGiveUp) return open(admitted, destination, settings, ports, client)
  const deadline = new FirstByteDeadline(limitMs, client.signal, ports.clock)
  const result = await open(admitted, destination, settings, ports, deadline)
  deadline.meet()
  return result.kind === 'aborted' && deadline.isMissed ? gaveUp(result, limitMs) : result
}

type OpenPorts = Pick<TextPorts, 'secretOf'> & { readonly clock: Clock }

/** Cancels a call. It is notified when the first byte arrives. */
type Watch = { readonly signal: CallerSignal; meet?(): void }

async function open(
  admitted: AdmittedRequest<StreamDialect>,
  destination: Destination,
  settings: TextSettings,
  ports: OpenPorts,
  watch: Watch,
): Promise<StreamResult> {
  const { provider, adapter } = destination
  const idleTimeoutMs = streamIdleTimeoutMs(admitted.model, provider, settings)
  const call = { ...upstreamCall(admitted, destination, settings), idleTimeoutMs }
  const outcome = await adapter.stream(call, watch.signal)
  if (outcome.outcome !== 'opened') {
    const { dialect } = destination.converted ?? admitted
    const result = attemptResult(outcome, dialect, reportedUsageLimits(admitted, destination))
    if (result.kind !== 'answer') return result
    return noAnswer(result.status, 'a complete answer instead of a stream')
  }
  const { status, retryAfter, rateLimits = [], reportedCost, body } = outcome
  const stream = textStream(admitted, destination, ports)
  const { heartbeat } = stream
  const isWatched = heartbeat !== undefined || provider.finishAborted !== undefined
  const watched = isWatched ? new WatchedUpstream(body, ports.clock) : undefined
  const source = watched ?? body
  const first = await (watched !== undefined && heartbeat?.mayComeFirst === true && watch.meet === undefined
    ? readFirstOrBeat(watched, stream, { heartbeat, clock: ports.clock })
    : readFirst(body, stream, watch))
  const problem = openingProblem(stream, { first, end: body.end, status })
  if (problem !== null) {
    source.cancel()
    return problem
  }
  return {
    kind: 'stream',
    status,
    opened: {
      rateLimits,
      retryAfter: retryAfter?.text,
      reportedCost,
      upstream: source,
      stream,
      first,
      ...(watched && { watched }),
    },
  }
}

function textStream(
  admitted: AdmittedRequest<StreamDialect>,
  destination: Destination,
  { clock, secretOf }: { readonly clock: Clock } & Pick<TextPorts, 'secretOf'>,
): TextStream {
  const { call, model, destinations } = admitted
  const { dialect, request } = destination.converted ?? admitted
  return dialect.openStream(request, {
    model: model.id,
    limits: reportedUsageLimits(admitted, destination),
    isUsageAsked: asksForUsage(model, destination.provider),
    hasHeartbeats: model.kind === 'chat' && model.heartbeats === true,
    fallback: { id: formatId('req', call.id), createdAtS: Math.floor(clock.now() / 1000) },
    secrets: upstreamSecrets(destinations, secretOf),
  })
}

/** Reads until there is something for the client, or the stream has ended. */
async function readFirst(body: UpstreamStream, stream: TextStream, watch: Watch): Promise<Bytes> {
  for (;;) {
    const piece = await body.read()
    watch.meet?.()
    if (piece === undefined) return stream.end()
    const first = stream.feed(piece)
    if (first.length > 0 || stream.isDone) return first
  }
}

/**
 * Like `readFirst`, but after some silence a heartbeat is the first thing for the client. From then on, no other
 * upstream can be called.
 */
async function readFirstOrBeat(
  body: WatchedUpstream,
  stream: TextStream,
  { heartbeat, clock }: { readonly heartbeat: Heartbeat; readonly clock: Clock },
): Promise<Bytes> {
  const dueMs = clock.monotonicMs() + heartbeat.afterMs
  for (;;) {
    const piece = await body.readUntil(dueMs)
    if (piece === SILENCE) return heartbeat.bytes()
    if (piece === undefined) return stream.end()
    const first = stream.feed(piece)
    if (first.length > 0 || stream.isDone) return first
  }
}

/** Why a stream cannot go to the client; null if it can. */
function openingProblem(
  stream: TextStream,
  {
    first,
    end,
    status,
  }: { readonly first: Uint8Array; readonly end: StreamEnd | undefined; readonly status: number },
): Exclude<StreamResult, { kind: 'stream' }> | null {
  const { endedWell, outputBegan, errorFirst } = stream.reading()
  if (outputBegan || endedWell) return null
  // Only an error that comes first. Whether an error arrives in one read with earlier frames depends on the network.
  if (errorFirst) return { ...noAnswer(status, 'a stream that begins with an error'), reason: 'server' }
  if (end === undefined) return null
  if (end.end === 'idle') return { kind: 'timeout', status }
  if (end.end === 'aborted') return { kind: 'aborted', status }
  if (end.end === 'broken') return { kind: 'failure', status, reason: 'unreachable', problem: end.reason }
  return noAnswer(status, first.length > 0 ? 'a stream without output' : 'an empty stream')
}

function gaveUp({ status }: { readonly status?: number }, limitMs: number): AttemptFailure {
  const problem = `no first byte within ${limitMs / 1000} s`
  return {
    kind: 'failure',
    reason: 'first_byte_timeout',
    problem,
    ...(status === undefined ? {} : { status }),
  }
}

function noAnswer(status: number, problem: string): AttemptFailure {
  return { kind: 'failure', status, reason: 'no_answer', problem }
}

/** Cancels the call for a stream if its first byte does not come in time, or if its client disconnects. */
class FirstByteDeadline {
  readonly #signal = new DisconnectSignal()
  readonly #cancelTimer: () => void
  #isMissed = false

  constructor(limitMs: number, client: CallerSignal, clock: Clock) {
    this.#signal.follow(client)
    this.#cancelTimer = clock.after(limitMs, () => {
      this.#isMissed = true
      this.#signal.fire()
    })
  }

  /** The signal for the call. After `meet`, only the client fires it. */
  get signal(): CallerSignal {
    return this.#signal
  }

  /** True if the time was over before `meet` was called. */
  get isMissed(): boolean {
    return this.#isMissed
  }

  /** The first byte has come, or the call has ended. */
  meet(): void {
    this.#cancelTimer()
  }
}
