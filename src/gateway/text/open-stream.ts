import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import type { StreamDialect, TextStream, UsageLimits } from '../../protocol/text-dialect.ts'
import type { AdmittedRequest } from './admit-text.ts'
import { attemptResult, type Verdict } from '../upstreams/attempt-result.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { StreamEnd, TextProvider, UpstreamStream } from '../ports/text-provider.ts'
import type { Destination } from './resolve-model.ts'

/** A stream whose first bytes are here. */
export type OpenedStream = {
  readonly headers: Readonly<Record<string, string>>
  readonly rateLimits: string
  readonly reportedCost: string | null
  readonly body: UpstreamStream
  readonly stream: TextStream
  /** What may go to the client at once: at least one byte, unless the stream is over already. */
  readonly first: Uint8Array<ArrayBuffer>
  /** How the upstream's body ended, where that was before anything could go to the client. */
  readonly end: StreamEnd | null
}

export type StreamResult =
  | { readonly verdict: 'stream'; readonly opened: OpenedStream }
  | Exclude<Verdict, { verdict: 'answer' }>

/**
 * Opens the stream of one upstream and reads until something can go to the client. Up to here a failure leaves no trace, so
 * that another upstream may be asked or the client told by a status. `signal` is the client's: one that leaves takes the
 * upstream's call with it.
 */
export async function openStream(
  { call, request, model }: AdmittedRequest,
  { provider, upstream }: Destination,
  context: {
    readonly dialect: StreamDialect
    readonly providers: { readonly [kind in typeof provider.kind]: TextProvider }
    readonly limits: UsageLimits
    readonly firstByteTimeoutMs: number
    readonly idleTimeoutMs: number
    readonly fallback: { readonly id: string; readonly createdAtS: number }
    readonly secrets: UpstreamSecrets
    readonly signal: CallerSignal
  },
): Promise<StreamResult> {
  const { dialect, limits, fallback, secrets } = context
  call.trace.provider = provider.id
  const outcome = await context.providers[provider.kind].stream(
    {
      provider,
      route: dialect.upstreamRoute,
      model: upstream.model,
      body: dialect.forUpstream(request, upstream.model, provider),
      firstByteTimeoutMs: context.firstByteTimeoutMs,
      idleTimeoutMs: context.idleTimeoutMs,
    },
    context.signal,
  )
  if (outcome.outcome === 'answered' || outcome.outcome === 'opened')
    call.trace.upstreamStatus = outcome.status
  if (outcome.outcome !== 'opened') {
    const verdict = attemptResult(outcome, dialect, limits)
    return verdict.verdict === 'answer' ? notAStream('a whole answer to a request for a stream') : verdict
  }
  const { headers, rateLimits = '', reportedCost, body } = outcome
  const stream = dialect.openStream(request, { model: model.id, limits, fallback, secrets })
  const { first, end } = await readFirst(body, stream)
  const refusal = whyNot(stream, first, end)
  if (refusal === null)
    return { verdict: 'stream', opened: { headers, rateLimits, reportedCost, body, stream, first, end } }
  body.cancel()
  return refusal
}

/** Reads until there is something to hand over, or nothing more will come. */
async function readFirst(
  body: UpstreamStream,
  stream: TextStream,
): Promise<{ first: Uint8Array<ArrayBuffer>; end: StreamEnd | null }> {
  for (;;) {
    const piece = await body.read()
    if (piece === undefined) return { first: stream.end(), end: body.end ?? null }
    const first = stream.feed(piece)
    if (first.length > 0 || stream.isDone) return { first, end: null }
  }
}

/** Null for a stream that may go to the client. */
function whyNot(
  stream: TextStream,
  first: Uint8Array,
  end: StreamEnd | null,
): Exclude<StreamResult, { verdict: 'stream' }> | null {
  const { endedWell, outputBegan, errorFirst } = stream.reading()
  if (outputBegan || endedWell) return null
  // Not one that comes after other frames: whether those are in the same read is the network's whim.
  if (errorFirst) return { ...notAStream('an error as the first of a stream'), reason: 'server' }
  if (end === null) return null
  if (end.end === 'idle') return { verdict: 'timeout' }
  if (end.end === 'aborted') return { verdict: 'aborted' }
  if (end.end === 'broken') {
    return { verdict: 'failure', reason: 'unreachable', retryAfterS: undefined, problem: end.reason }
  }
  return first.length > 0 ? notAStream('a stream without output') : notAStream('an empty stream')
}

function notAStream(problem: string): Extract<Verdict, { verdict: 'failure' }> {
  return { verdict: 'failure', reason: 'no_answer', retryAfterS: undefined, problem }
}
