import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type {
  ProviderCall,
  ProviderOutcome,
  StreamCall,
  StreamOutcome,
  TextProvider,
} from '../../gateway/ports/text-provider.ts'
import { failureReason } from '../failure-reason.ts'
import type { HttpClient, HttpExchange } from '../../http1/client/http-client.ts'
import type { HttpRequest } from '../../http1/client/http-request.ts'
import { readHead, type AnswerHead } from './answer-head.ts'
import { byteStream } from './byte-stream.ts'
import { Cutoff } from './cutoff.ts'
import type { Deadlines } from '../deadlines.ts'
import { ANSWER_BYTES_MAX, answered, bodyProblem, piecesOf, TOO_LARGE } from './read-answer.ts'
import { targets, type SecretOf } from './target.ts'
import { WholeCall } from './whole-call.ts'

export type OpenAiCompatiblePorts = {
  readonly deadlines: Deadlines
  readonly secretOf: SecretOf
  readonly http: HttpClient
}

type Failure = Exclude<ProviderOutcome, { readonly outcome: 'answered' }>

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's text goes up as it is, with headers from the provider's
 * row alone; the answer's comes down as it is.
 */
export function openAiCompatible({ deadlines, secretOf, http }: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(secretOf)

  /** What to send, or why nothing is. */
  function requestOf(
    { provider, route }: ProviderCall | StreamCall,
    signal: CallerSignal | undefined,
  ): HttpRequest | Failure {
    if (signal?.aborted === true) return { outcome: 'aborted' }
    const target = targetOf(provider)
    return 'problem' in target ? { outcome: 'unreachable', reason: target.problem } : target[route]
  }

  return {
    complete(call, signal) {
      const request = requestOf(call, signal)
      if ('outcome' in request) return Promise.resolve(request)
      return new Promise(resolve => new WholeCall(call, request, { http, deadlines, signal }, resolve))
    },

    async stream(call, signal) {
      const request = requestOf(call, signal)
      if ('outcome' in request) return request
      const exchange = http.begin(request, call.body)
      const limits = new Cutoff(exchange, deadlines, signal)
      limits.start(call.firstByteTimeoutMs)
      try {
        const outcome = await openStream(call, exchange, limits)
        // An open stream goes on under the same limits.
        if (outcome.outcome !== 'opened') limits.lift()
        return outcome
      } catch (error) {
        limits.lift()
        const outcome = limits.cause()
        return outcome === undefined ? { outcome: 'unreachable', reason: failureReason(error) } : { outcome }
      }
    },
  }
}

async function openStream(
  { provider, idleTimeoutMs }: StreamCall,
  exchange: HttpExchange,
  limits: Cutoff,
): Promise<StreamOutcome> {
  const head = readHead(await exchange.head(), provider.costHeader)
  if (!isStreamed(head) || bodyProblem(head) !== undefined) {
    limits.start(idleTimeoutMs)
    return readWhole(head, exchange)
  }
  limits.rest()
  const { status, headers, rateLimits, reportedCost } = head
  const body = byteStream(piecesOf(exchange, head), limits, idleTimeoutMs)
  return { outcome: 'opened', status, headers, rateLimits, reportedCost, body }
}

/** Some servers stream without naming the type, so that only what is surely something else is not taken for a stream. */
function isStreamed({ status, headers }: AnswerHead): boolean {
  if (status < 200 || status > 299 || status === 204) return false
  return !/^(?:application\/json|text\/html)\b/i.test(headers['content-type'] ?? '')
}

/** What came in the place of a stream. */
function readWhole(head: AnswerHead, exchange: HttpExchange): Promise<ProviderOutcome> {
  const problem = bodyProblem(head)
  if (problem !== undefined) {
    // The body is not worth reading, and the connection is lost with it.
    exchange.cut()
    return Promise.resolve({ outcome: 'unreachable', reason: problem })
  }
  return new Promise((resolve, reject) =>
    exchange.answer(ANSWER_BYTES_MAX, {
      onAnswer: (_, bytes, start, end) => resolve(answered(head, bytes, start, end)),
      onTooLarge: () => resolve({ outcome: 'unreachable', reason: TOO_LARGE }),
      onFailed: reject,
    }),
  )
}
