import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type {
  ProviderCall,
  ProviderOutcome,
  StreamCall,
  StreamEnd,
  StreamOutcome,
  TextProvider,
  UpstreamStream,
} from '../../gateway/ports/providers/text-provider.ts'
import type { OwnedByteStream } from '../../http1/byte-stream.ts'
import type { HttpClient, HttpResponse } from '../../http1/client/http-client.ts'
import type { HttpRequest } from '../../http1/client/http-request.ts'
import type { Timers } from '../../http1/timers.ts'
import { Cutoff, type CutCause } from './cutoff.ts'
import { failureReason } from './failure-reason.ts'
import { bodyProblem, decompressed, readAnswer, readHead, type AnswerHead } from './read-answer.ts'

export type HttpPorts = { readonly timers: Timers; readonly http: HttpClient }

/** The request of a call without its body, or why the provider cannot be called. */
type RequestOf = (call: ProviderCall | StreamCall) => HttpRequest | { readonly problem: string }

/** A running request, and the cutoff that can end it early. */
type BegunCall = { readonly response: Promise<HttpResponse>; readonly cutoff: Cutoff }

/** A call without an answer. */
type FailedOutcome = Exclude<ProviderOutcome, { readonly outcome: 'answered' }>

/** A text provider over HTTP. The request's text is sent unchanged, and the answer is returned unchanged. */
export function textOverHttp({ timers, http }: HttpPorts, requestOf: RequestOf): TextProvider {
  /** Sends the request, or gives the reason why it cannot be sent. The caller starts the cutoff with its limit. */
  function begin(
    call: ProviderCall | StreamCall,
    signal: CallerSignal | undefined,
  ): BegunCall | FailedOutcome {
    if (signal?.aborted === true) return { outcome: 'aborted' }
    const request = requestOf(call)
    if ('problem' in request) return { outcome: 'not_configured', reason: request.problem }
    const cutoff = new Cutoff(timers, signal)
    const { connectTimeoutMs } = call.provider
    const onSent = () => cutoff.onSent()
    return {
      cutoff,
      response: http.send(request, { body: call.body, signal: cutoff, connectTimeoutMs, onSent }),
    }
  }

  // While the upstream works, this code keeps no reference to the body of the request, which may be large.
  return {
    complete(call, signal) {
      const { readTimeoutMs, lateMs } = call
      const begun = begin(call, signal)
      if ('outcome' in begun) return Promise.resolve(begun)
      const answer = wholeAnswer(begun, call.provider.costHeader)
      if (lateMs !== undefined) return answerInTime(answer, begun, { readTimeoutMs, lateMs })
      begun.cutoff.start(readTimeoutMs)
      return answer
    },

    async stream(call, signal) {
      const begun = begin(call, signal)
      if ('outcome' in begun) return begun
      begun.cutoff.start(call.readTimeoutMs)
      return openStream(begun, call.provider.costHeader, call.idleTimeoutMs)
    },
  }
}

/** Reads the whole answer of a call, or says why there is none. Never rejects. */
async function wholeAnswer(
  { response, cutoff }: BegunCall,
  costHeader: string | undefined,
): Promise<ProviderOutcome> {
  try {
    const answer = await response
    return await readAnswer(readHead(answer, costHeader), answer)
  } catch (error) {
    return failedOutcome(error, cutoff)
  } finally {
    cutoff.release()
  }
}

/**
 * Returns the answer of a call if it arrives in time. Otherwise the call has timed out, and continues for `lateMs`
 * without its caller.
 */
function answerInTime(
  answer: Promise<ProviderOutcome>,
  { cutoff }: BegunCall,
  { readTimeoutMs, lateMs }: { readonly readTimeoutMs: number; readonly lateMs: number },
): Promise<ProviderOutcome> {
  return new Promise(resolve => {
    cutoff.startWith(readTimeoutMs, () => {
      if (!cutoff.isSent) return cutoff.cut('timed_out')
      cutoff.ignoreCaller()
      cutoff.start(lateMs)
      resolve({ outcome: 'timed_out', late: { outcome: answer, abandon: () => cutoff.cut('aborted') } })
    })
    void answer.then(resolve)
  })
}

async function openStream(
  { response, cutoff }: BegunCall,
  costHeader: string | undefined,
  idleTimeoutMs: number,
): Promise<StreamOutcome> {
  try {
    const answer = await response
    const head = readHead(answer, costHeader)
    if (!isStreamed(head) || bodyProblem(head) !== undefined) {
      cutoff.start(idleTimeoutMs)
      const outcome = await readAnswer(head, answer)
      cutoff.release()
      return outcome
    }
    cutoff.pause()
    const { status, retryAfter, rateLimits, reportedCost } = head
    const body = upstreamStream(decompressed(answer, head), cutoff, idleTimeoutMs)
    return { outcome: 'opened', status, retryAfter, rateLimits, reportedCost, body }
  } catch (error) {
    cutoff.release()
    return failedOutcome(error, cutoff)
  }
}

/** Some servers stream without a content type. So only another content type means a whole answer. */
function isStreamed({ status, contentType = '' }: AnswerHead): boolean {
  if (status < 200 || status > 299 || status === 204) return false
  return !/^(?:application\/json|text\/html)\b/i.test(contentType)
}

/**
 * The outcome of a call that was cut off, or that failed with this error. If the time is over before the request was
 * sent, the call did not time out but failed to connect. No upstream works on it, so another one may be called.
 */
function failedOutcome(error: unknown, { cause, isSent }: Cutoff): FailedOutcome {
  if (cause === 'timed_out' && !isSent) return { outcome: 'unreachable', reason: 'CONNECT_TIMEOUT' }
  return cause === undefined ? { outcome: 'unreachable', reason: failureReason(error) } : { outcome: cause }
}

const endOf = {
  timed_out: { end: 'idle' },
  aborted: { end: 'aborted' },
} as const satisfies Record<CutCause, StreamEnd>

/** The body of a streamed answer. Each read may take `idleTimeoutMs`. Releases the cutoff at the end of the body. */
export function upstreamStream(body: OwnedByteStream, cutoff: Cutoff, idleTimeoutMs: number): UpstreamStream {
  let end: StreamEnd | undefined

  const finish = (how: StreamEnd): undefined => {
    cutoff.release()
    end ??= how
  }
  const finishFailed = (error: unknown): undefined => {
    const { cause } = cutoff
    // If a compressed body cannot be decompressed, its connection is still open.
    cutoff.cut('aborted')
    return finish(cause === undefined ? { end: 'broken', reason: failureReason(error) } : endOf[cause])
  }

  return {
    get end() {
      return end
    },
    async read() {
      if (end !== undefined) return undefined
      cutoff.start(idleTimeoutMs)
      try {
        const piece = await body.read()
        // Bytes that arrive after a cut are dropped.
        if (cutoff.cause !== undefined) return finish(endOf[cutoff.cause])
        if (piece === undefined) return finish({ end: 'ended' })
        cutoff.pause()
        return piece
      } catch (error) {
        return finishFailed(error)
      }
    },
    cancel() {
      if (end !== undefined) return
      cutoff.cut('aborted')
      finish(endOf.aborted)
    },
  }
}
