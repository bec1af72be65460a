import { costOf } from '../../domain/catalog/provider.ts'
import { FREE_TEXT } from '../../domain/pricing/tariff.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import type { Attempt, AttemptId, Attempts } from '../ports/ledger/attempts.ts'
import type { ProviderCall } from '../ports/providers/text-provider.ts'
import type { Tokenizer } from '../ports/providers/tokenizer.ts'
import { wasGivenUp, type AttemptRecord, type CallResult } from '../upstreams/attempt-result.ts'
import { callWithFailover, type CallUpstream, type FailoverPorts } from '../upstreams/call-with-failover.ts'
import type { Destination } from '../upstreams/destinations.ts'
import { failOverWithinMs, readTimeoutMs, type TimeoutSettings } from '../upstreams/timeouts.ts'
import type { AdmittedRequest } from './admit-text.ts'
import { recordedCost, type ProviderBill } from './price-text.ts'
import { estimateInput, providerBillOf } from './settle-text.ts'
import { attributionOfCall } from './text-call.ts'

export type CallUpstreamsPorts = FailoverPorts & {
  readonly attempts: Pick<Attempts, 'record'>
  readonly tokenizer: Tokenizer
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Calls the upstreams of an admitted request until one answers, and returns the attempt whose result the client gets.
 * Cancels calls that still run and whose results the client does not get. Records the attempts that no customer pays
 * and that the operator may have to pay.
 */
export async function callUpstreams<Result extends CallResult>(
  admitted: AdmittedRequest,
  call: CallUpstream<Result>,
  ports: CallUpstreamsPorts,
  settings: Pick<TimeoutSettings, 'readTimeoutMs'>,
): Promise<AttemptRecord<Result>> {
  const {
    destinations,
    call: { record },
  } = admitted
  const withinMs = { failOverWithinMs: failOverWithinMs(admitted, settings) }
  const { selected, others } = await callWithFailover({ destinations, record }, call, ports, withinMs)
  for (const attempt of others) {
    const { result } = attempt
    if (result.kind === 'timeout') result.late?.abandon()
    recordUnpaidWork(admitted, attempt, ports)
  }
  // The customer pays for an answer. A result of another kind is free for the customer.
  if (selected.result.kind !== 'answer') recordUnpaidWork(admitted, selected, ports)
  return selected
}

/** The call of one upstream with an admitted request. */
export function upstreamCall(
  admitted: AdmittedRequest,
  { provider, upstream, converted }: Destination,
  settings: Pick<TimeoutSettings, 'readTimeoutMs'>,
): ProviderCall {
  const { call, model } = admitted
  const { dialect, request } = converted ?? admitted
  return {
    provider,
    route: dialect.upstreamRoute,
    model: upstream.model,
    body: dialect.forUpstream(request, upstream.model, provider, model),
    apiVersion: call.apiVersion,
    readTimeoutMs: readTimeoutMs(model, provider, settings),
  }
}

/**
 * Records, in the background, the usage and the reported cost of an answer, an unknown usage of a stream that was given
 * up, and an estimate for a refused request that the provider bills.
 */
function recordUnpaidWork(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  { attempts, clock, tokenizer, onSettleFailed }: CallUpstreamsPorts,
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
