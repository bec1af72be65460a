import type { Usage } from '../../domain/pricing/usage.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import { scrubReplyError } from '../../protocol/scrub-reply-error.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import { attemptResult, type AttemptResult } from '../upstreams/attempt-result.ts'
import type { Destination } from '../upstreams/destinations.ts'
import { admitText, passedRateLimits, type AdmittedRequest } from './admit-text.ts'
import { callUpstreams, upstreamCall } from './call-upstreams.ts'
import { LATE_MS } from './late-answers.ts'
import { freeHold, isCostCertain, meterUsage, providerBillOf, settleText } from './settle-text.ts'
import { priceText, reportedUsageLimits } from './price-text.ts'
import { refuseText, unrepeatable } from './refuse-text.ts'
import { streamText } from './streams/stream-text.ts'
import type { ParsedTextCall, TextCall } from './text-call.ts'
import type { TextPorts, TextSettings } from './text-ports.ts'
import type { TextResult, CompleteAnswer } from './text-result.ts'
import { upstreamSecrets } from '../upstreams/upstream-secrets.ts'

/**
 * Answers one request of a text route: with a stream if it asks for one and the route has streams, else with JSON.
 * Throws a GatewayError if the body is malformed. Rejects with one if the request is not admitted.
 */
export function answerText(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextResult> {
  const request = dialect.readRequest(parseJsonObject(call.body))
  return request.isStream && 'openStream' in dialect
    ? streamText({ call, dialect, request }, ports, settings)
    : runText({ call, dialect, request }, ports, settings)
}

/**
 * Answers one request with JSON: holds its worst case, calls its upstreams, charges what the answer used, and then
 * replies. Rejects with a GatewayError if the request is not admitted. In every case nothing is held afterwards, unless
 * the store cannot free the hold, which then expires.
 *
 * By default, the answer is finished and charged even if the client disconnects. With another `signal`, the upstream's
 * call ends when that fires, unless it timed out before.
 */
export async function runText(
  parsed: ParsedTextCall,
  ports: TextPorts,
  settings: TextSettings,
  signal: CallerSignal = ports.stopSignal,
): Promise<TextResult> {
  const admitted = await admitText(parsed, ports, settings)
  let isCharged = false
  try {
    const attempt = await callUpstreams(
      admitted,
      destination => callUpstream(admitted, destination, settings, signal),
      ports,
      settings,
    )
    const { result } = attempt
    if (result.kind === 'timeout') await ports.lateAnswers.expect(admitted, attempt, result.late)
    if (result.kind === 'refusal') ports.refusedFields.note(admitted, attempt, result)
    if (result.kind !== 'answer') return refuseText(admitted, { ...attempt, result }, ports)

    const { answer, outcome } = result
    const metered = await meterUsage(answer, admitted, attempt, ports)
    const price = priceText(
      admitted.quote,
      metered,
      providerBillOf(answer, outcome.reportedCost, attempt.destination),
    )
    const cost = await settleText(admitted, attempt, { metered, price }, ports)
    isCharged = true
    if (answer.usage !== null) ports.recentPrompts.note(admitted, attempt.destination, answer.usage)

    const charge = { usage: metered.usage, cost: isCostCertain(metered, price) ? cost : null }
    return answerForClient(admitted, attempt.destination, { result, charge }, ports)
  } catch (error) {
    throw unrepeatable(error)
  } finally {
    // A charge has ended the hold.
    if (!isCharged) await freeHold(admitted, ports)
  }
}

async function callUpstream(
  admitted: AdmittedRequest,
  destination: Destination,
  settings: Pick<TextSettings, 'readTimeoutMs'>,
  signal: CallerSignal,
): Promise<AttemptResult> {
  const call = { ...upstreamCall(admitted, destination, settings), lateMs: LATE_MS }
  const outcome = await destination.adapter.complete(call, signal)
  const { dialect } = destination.converted ?? admitted
  return attemptResult(outcome, dialect, reportedUsageLimits(admitted, destination))
}

type ChargedAnswer = {
  readonly result: Extract<AttemptResult, { kind: 'answer' }>
  readonly charge: Pick<CompleteAnswer, 'cost'> & { readonly usage: Usage }
}

/** The answer as the client gets it, with the catalog's model name and the cost. */
function answerForClient(
  admitted: AdmittedRequest,
  destination: Destination,
  { result: { answer, outcome }, charge: { usage, cost } }: ChargedAnswer,
  { secretOf }: Pick<TextPorts, 'secretOf'>,
): CompleteAnswer {
  const { call, model, destinations } = admitted
  const { dialect, request } = destination.converted ?? admitted
  const text = dialect.forClient(answer, { id: call.id, model: model.id, usage, cost }, request)
  return {
    kind: 'answer',
    model: model.id,
    contentType: dialect.contentTypeOf?.(request) ?? outcome.contentType ?? 'application/json',
    body: answer.hasError ? scrubReplyError(text, upstreamSecrets(destinations, secretOf)) : text,
    rateLimits: passedRateLimits(admitted, destination, outcome.rateLimits ?? []),
    retryAfter: outcome.retryAfter?.text,
    usage,
    cost,
  }
}
