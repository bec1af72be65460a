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
import { bodyProblem, readAnswer, TOO_LARGE } from './read-answer.ts'
import { targets, type SecretOf, type Target } from './target.ts'

export type OpenAiCompatiblePorts = { readonly clock: Clock; readonly secretOf: SecretOf }

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
export function openAiCompatible({ clock, secretOf }: OpenAiCompatiblePorts): TextProvider {
  const targetOf = targets(secretOf)

  /** Runs one exchange under a limit; whatever is thrown in it becomes an outcome. */
  async function attempt<Call extends TextCall, Outcome extends StreamOutcome>(
    call: Call,
    { limitMs, signal, extension }: Terms,
    exchange: (call: Call, target: Target, limits: Cutoff) => Promise<Outcome>,
  ): Promise<Outcome | Failure> {
    if (signal?.aborted === true) return { outcome: 'aborted' }
    const target = targetOf(call.provider)
    if ('problem' in target) return { outcome: 'unreachable', reason: target.problem }
    const limits = cutoff(clock, signal, extension)
    limits.start(limitMs)
    try {
      const outcome = await exchange(call, target, limits)
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

async function answerWhole(call: ProviderCall, target: Target, limits: Cutoff): Promise<ProviderOutcome> {
  const response = await send(call, target, limits)
  const head = readHead(response.headers, call.provider.costHeader)
  const body = await readBody(response, head)
  return wholeOf(response, { head, body }, limits)
}

async function openStream(call: StreamCall, target: Target, limits: Cutoff): Promise<StreamOutcome> {
  const response = await send(call, target, limits)
  const head = readHead(response.headers, call.provider.costHeader)
  if (
    response.body === null ||
    !isStreamed(response.status, head.headers) ||
    bodyProblem(head) !== undefined
  ) {
    limits.start(call.idleTimeoutMs)
    return wholeOf(response, { head, body: await readBody(response, head) }, limits)
  }
  limits.rest()
  return {
    outcome: 'opened',
    status: response.status,
    headers: head.headers,
    reportedCost: head.reportedCost,
    body: byteStream(response.body, limits, call.idleTimeoutMs),
  }
}

/** Some servers stream without naming the type, so that only what is surely something else is not taken for a stream. */
function isStreamed(status: number, headers: AnswerHead['headers']): boolean {
  if (status < 200 || status > 299) return false
  return !/^(?:application\/json|text\/html)\b/i.test(headers['content-type'] ?? '')
}

/** Undefined where it cannot be used. */
function readBody(
  response: Response,
  head: AnswerHead,
): Promise<Uint8Array<ArrayBuffer> | undefined> | undefined {
  return bodyProblem(head) === undefined ? readAnswer(response, head) : undefined
}

function wholeOf(
  { status }: Response,
  { head, body }: { readonly head: AnswerHead; readonly body: Uint8Array<ArrayBuffer> | undefined },
  limits: Cutoff,
): ProviderOutcome {
  if (body === undefined) {
    // The rest is not worth reading, and the connection is lost with it.
    limits.cut('aborted')
    return { outcome: 'unreachable', reason: bodyProblem(head) ?? TOO_LARGE }
  }
  const { headers, reportedCost } = head
  return { outcome: 'answered', status, headers, reportedCost, body }
}

function send(call: TextCall, target: Target, limits: Cutoff): Promise<Response> {
  return fetch(target.urls[call.route], {
    method: 'POST',
    headers: target.headers,
    body: call.body,
    // A redirect is an answer like any other: followed, it would carry the key and the request to somebody else.
    redirect: 'manual',
    signal: limits.signal,
    // Off: Bun's own idle limit of five minutes, which a longer limit of ours would never reach.
    timeout: false,
  })
}
