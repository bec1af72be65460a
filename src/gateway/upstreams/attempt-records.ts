import { costOf } from '../../domain/catalog/provider.ts'
import { FREE_TEXT } from '../../domain/pricing/tariff.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import type { Attempt, AttemptId, Attempts } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { RecordedAttempt } from '../ports/request-records.ts'
import type { Tokenizer } from '../ports/tokenizer.ts'
import type { AdmittedRequest, Destination } from '../text/admit-text.ts'
import { estimateInput, providerBillOf } from '../text/settle-text.ts'
import { recordedCost, type ProviderBill } from '../text/quote-text.ts'
import { attributionOfCall } from '../text/text-call.ts'
import type { TextRecord, UpstreamFailureReason } from '../text/text-record.ts'
import { wasGivenUp, type AttemptResult, type CallResult } from './attempt-result.ts'

/**
 * One call to one upstream and how it ended, with the usage if it answered. Failover and settlement work on these
 * values.
 */
export type AttemptRecord<Result = AttemptResult> = {
  readonly destination: Destination
  /** Its place among the attempts of its request, from 1. */
  readonly number: number
  readonly result: Result
}

/** The row that the books keep of an attempt whose answer the client does not get. */
export function storedAttempt(
  admitted: AdmittedRequest,
  { number, destination }: AttemptRecord<unknown>,
  atMs: number,
): AttemptId & Omit<Attempt, 'state'> {
  const { call, dialect, model, quote } = admitted
  const { id, caller } = call
  return {
    requestId: id,
    number,
    provider: destination.provider.id,
    accountId: caller.account.id,
    apiKeyId: caller.apiKey.id,
    route: dialect.route,
    model: model.id,
    ...attributionOfCall(admitted),
    tariff: quote.pricing.kind === 'tariff' ? quote.pricing.tariff : null,
    atMs,
  }
}

export type AbandonPorts = {
  readonly attempts: Pick<Attempts, 'record'>
  readonly clock: Clock
  readonly tokenizer: Tokenizer
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Ends an attempt whose result the client does not get, and records what the operator may have to pay for it. A call
 * that still runs is cancelled.
 */
export function recordAbandonedAttempt(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  ports: AbandonPorts,
): void {
  const { result } = attempt
  if (result.kind === 'timeout') result.late?.abandon()
  recordUnpaidWork(admitted, attempt, ports)
}

/** Like `recordAbandonedAttempt`, for the attempt whose result the client gets: only if it is free for the customer. */
export function recordFreeResult(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  ports: AbandonPorts,
): void {
  if (attempt.result.kind !== 'answer') recordUnpaidWork(admitted, attempt, ports)
}

/**
 * Records, in the background, the usage and the reported cost of an answer, an unknown usage of a stream that was given
 * up, and an estimate for a refused request that the provider bills.
 */
function recordUnpaidWork(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  { attempts, clock, tokenizer, onSettleFailed }: AbandonPorts,
): void {
  const keep = (billed: Billed) =>
    attempts.record({ ...storedAttempt(admitted, attempt, clock.now()), state: 'abandoned', ...billed })
  if (isBilledRefusal(attempt)) {
    admitted.call.record.isRefusalBilled = true
    estimateInput(admitted, tokenizer)
      .then(usage => keep({ usage, providerCost: recordedCost(unreported(attempt.destination), usage) }))
      .catch(onSettleFailed)
    return
  }
  const billed = billedFor(attempt)
  if (billed !== undefined) keep(billed).catch(onSettleFailed)
}

type Billed = { readonly usage: Usage | null; readonly providerCost: NanoUsd | null }

/** The work of an answer, or of a stream that was given up, that the provider may bill. Undefined if there is none. */
function billedFor({ destination, result }: AttemptRecord<CallResult>): Billed | undefined {
  if (wasGivenUp(result)) return { usage: null, providerCost: null }
  if (result.kind !== 'answer') return undefined
  const { answer, outcome } = result
  const { usage } = answer
  const providerCost = recordedCost(providerBillOf(answer, outcome.reportedCost, destination), usage)
  const isUsed = usage !== null && inputTokens(usage) + outputTokens(usage) > 0
  return isUsed || (providerCost ?? ZERO) > 0n ? { usage, providerCost } : undefined
}

/** The bill of a refusal, which reports no cost. */
function unreported({ provider, upstream }: Destination): ProviderBill {
  return { reported: null, prices: costOf(upstream, provider, FREE_TEXT) }
}

/**
 * Whether the provider bills a request that it refused. Its content filter reads the prompt, and Azure bills that. Only
 * the row of the provider says so.
 */
function isBilledRefusal({ destination, result }: AttemptRecord<CallResult>): boolean {
  if (result.kind !== 'refusal' || result.status !== 400) return false
  if (destination.provider.billsRefused !== 'content_filter') return false
  const error = findJsonObject(result.outcome.body)?.['error']
  if (!isJsonObject(error)) return false
  const { code, innererror: inner } = error
  return (
    code === 'content_filter' || (isJsonObject(inner) && inner['code'] === 'ResponsibleAIPolicyViolation')
  )
}

type CallRecord = AttemptRecord<CallResult>

/** Writes the attempts of a request into its record. `selected` is the one whose result the client gets. */
export function reportAttempts(
  record: TextRecord,
  attempts: readonly CallRecord[],
  selected: CallRecord,
): void {
  const { destination, result } = selected
  record.provider = destination.provider.id
  if (result.status !== undefined) record.upstreamStatus = result.status
  record.attempts = attempts.map(attempt => recordedAttempt(attempt, attempt === selected))
  for (const attempt of attempts) {
    const reason = failureOf(attempt.result, attempt === selected)
    if (reason === undefined) continue
    const failure = { provider: attempt.destination.provider.id, reason }
    record.upstreamFailures = [...(record.upstreamFailures ?? []), failure]
  }
  if (attempts.length === 1) return
  record.failedOverFrom = attempts
    .filter(attempt => attempt !== selected)
    .map(attempt => `${attempt.destination.provider.id}: ${resultProblem(attempt.result)}`)
}

function recordedAttempt({ destination, result }: CallRecord, isSelected: boolean): RecordedAttempt {
  const provider = destination.provider.id
  const refused = result.kind === 'refusal' ? 'refused' : undefined
  const aborted = result.kind === 'aborted' ? 'aborted' : undefined
  const reason = failureOf(result, isSelected) ?? refused ?? aborted
  return reason === undefined ? { provider } : { provider, reason }
}

function failureOf(result: CallResult, isSelected: boolean): UpstreamFailureReason | undefined {
  if (result.kind === 'failure') return result.reason
  if (result.kind === 'timeout') return 'timeout'
  return result.kind === 'answer' && !isSelected ? 'no_answer' : undefined
}

function resultProblem(result: CallResult): string {
  switch (result.kind) {
    case 'failure':
      return result.problem
    case 'refusal':
      return `status ${result.status}`
    case 'answer':
      return 'an empty answer'
    case 'timeout':
    case 'aborted':
    case 'stream':
      return result.kind
  }
}
