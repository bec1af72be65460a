import type { Clock } from '../../gateway/ports/clock.ts'
import type {
  ProviderCall,
  ProviderOutcome,
  StreamCall,
  StreamOutcome,
  TextProvider,
} from '../../gateway/ports/text-provider.ts'
import { readHead, type AnswerHead } from './answer-head.ts'
import { byteStream } from './byte-stream.ts'
import { cutoff, type Cutoff, type Extension } from './cutoff.ts'
import { failureReason } from '../failure-reason.ts'
import type { HttpClient, HttpExchange } from '../http-client/http-client.ts'
import { bodyProblem, piecesOf, readAnswer, TOO_LARGE } from './read-answer.ts'
import { targets, type SecretOf } from './target.ts'

export type OpenAiCompatiblePorts = {
  readonly clock: Clock
  readonly secretOf: SecretOf
  readonly http: HttpClient
}

type TextCall = ProviderCall | StreamCall
type Terms = {
  readonly limitMs: number
  readonly signal: AbortSignal | undefined
  readonly extension?: Extension
}
type Failure = Exclude<ProviderOutcome, { readonly outcome: 'answered' }>

/**
 * Any server that speaks OpenAI's HTTP dialect. The request's bytes go up as they are, with headers from the provider's
 * row alone; the answer's come down as they are.
 */
export function openAiCompatible({ clock, secretOf, http }: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(secretOf)

  /** Runs one exchange under a limit; whatever is thrown in it becomes an outcome. */
  async function attempt<Call extends TextCall, Outcome extends StreamOutcome>(
    call: Call,
    { limitMs, signal, extension }: Terms,
    run: (call: Call, exchange: HttpExchange, limits: Cutoff) => Promise<Outcome>,
  ): Promise<Outcome | Failure> {
    if (signal?.aborted === true) return { outcome: 'aborted' }
    const target = targetOf(call.provider)
    if ('problem' in target) return { outcome: 'unreachable', reason: target.problem }
    const exchange = http.begin(target[call.route], call.body)
    const limits = cutoff(exchange, { clock, caller: signal, extension })
    limits.start(limitMs)
    try {
      const outcome = await run(call, exchange, limits)
      // An open stream goes on under the same limits.
      if (outcome.outcome !== 'opened') limits.lift()
      return outcome
    } catch (error) {
      limits.lift()
      const outcome = limits.cause()
      return outcome === undefined ? { outcome: 'unreachable', reason: failureReason(error) } : { outcome }
    }
  }

  /** Tells how the call ended or, where it goes on when its time is over, that. */
  function complete(call: ProviderCall, signal: AbortSignal | undefined): Promise<ProviderOutcome> {
    const { readTimeoutMs: limitMs, lateMs } = call
    if (lateMs === undefined) return attempt(call, { limitMs, signal }, answerWhole)
    const { promise, resolve } = Promise.withResolvers<ProviderOutcome>()
    const begins = (abandon: () => void) =>
      resolve({ outcome: 'timed_out', late: { outcome: ended, abandon } })
    const ended = attempt(call, { limitMs, signal, extension: { lateMs, begins } }, answerWhole)
    void ended.then(resolve)
    return promise
  }

  return {
    complete,
    stream: (call, signal) => attempt(call, { limitMs: call.firstByteTimeoutMs, signal }, openStream),
  }
}

async function answerWhole(
  { provider }: ProviderCall,
  exchange: HttpExchange,
  limits: Cutoff,
): Promise<ProviderOutcome> {
  const { status, fields } = await exchange.head()
  return readWhole({ status, ...readHead(fields, provider.costHeader) }, exchange, limits)
}

async function openStream(
  { provider, idleTimeoutMs }: StreamCall,
  exchange: HttpExchange,
  limits: Cutoff,
): Promise<StreamOutcome> {
  const { status, fields } = await exchange.head()
  const head = { status, ...readHead(fields, provider.costHeader) }
  if (!isStreamed(head) || bodyProblem(head) !== undefined) {
    limits.start(idleTimeoutMs)
    return readWhole(head, exchange, limits)
  }
  limits.rest()
  return {
    outcome: 'opened',
    status,
    headers: head.headers,
    reportedCost: head.reportedCost,
    body: byteStream(piecesOf(exchange, head), limits, idleTimeoutMs),
  }
}

type Answer = AnswerHead & { readonly status: number }

/** Some servers stream without naming the type, so that only what is surely something else is not taken for a stream. */
function isStreamed({ status, headers }: Answer): boolean {
  if (status < 200 || status > 299 || status === 204) return false
  return !/^(?:application\/json|text\/html)\b/i.test(headers['content-type'] ?? '')
}

async function readWhole(head: Answer, exchange: HttpExchange, limits: Cutoff): Promise<ProviderOutcome> {
  const problem = bodyProblem(head)
  const body = problem === undefined ? await readAnswer(exchange, head) : undefined
  if (body === undefined) {
    // The rest is not worth reading, and the connection is lost with it.
    limits.cut('aborted')
    return { outcome: 'unreachable', reason: problem ?? TOO_LARGE }
  }
  const { status, headers, reportedCost } = head
  return { outcome: 'answered', status, headers, reportedCost, body }
}
