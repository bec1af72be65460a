import { FREE_TEXT } from '../../domain/pricing/tariff.ts'
import { costOf, costUnits } from '../../domain/catalog/provider.ts'
import { ZERO, subtractUsd, type NanoUsd } from '../../domain/money.ts'
import { parseExactUsd, type ExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE, type Usage } from '../../domain/pricing/usage.ts'
import type { BilledFeatures } from '../../protocol/usage.ts'
import type { HoldQueue } from '../admission/hold-queue.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Tokenizer } from '../ports/providers/tokenizer.ts'
import type { AttemptRecord } from '../upstreams/attempt-result.ts'
import type { Destination } from '../upstreams/destinations.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { IdleStreams } from './streams/idle-streams.ts'
import { usageLimits, type MeteredUsage, type ProviderBill, type TextPrice } from './price-text.ts'
import type { RecentPrompts } from './recent-prompts.ts'
import { attributionOfCall } from './text-call.ts'

export type SettleTextPorts = MeterPorts & {
  readonly holds: HoldQueue
  readonly ledger: Pick<Ledger, 'captureHold'>
  readonly clock: Clock
  readonly idleStreams: IdleStreams
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/** Charges a request for what one attempt used. The charge is durable when this resolves with the amount charged. */
export async function settleText(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<unknown>,
  { metered, price }: { readonly metered: MeteredUsage; readonly price: TextPrice },
  { ledger, clock }: Pick<SettleTextPorts, 'ledger' | 'clock'>,
): Promise<NanoUsd> {
  const { call, dialect, model, hold, quote } = admitted
  const { usage, provenance, assumedCached } = metered
  const { isClamped, isCostUnreported, tariff } = price
  const { cost } = await ledger.captureHold(hold, {
    kind: 'text',
    cost: price.cost,
    providerCost: price.providerCost,
    route: dialect.route,
    apiKeyId: call.caller.apiKey.id,
    model: model.id,
    provider: attempt.destination.provider.id,
    usage,
    provenance,
    isClamped,
    ...(assumedCached !== undefined && { assumedCached }),
    tariff,
    ...attributionOfCall(admitted),
    atMs: clock.now(),
  })
  // The hold's own shortfall would be wrong: in the mode that only checks balances, nothing is held.
  const shortfall = cost > quote.amount ? subtractUsd(cost, quote.amount) : ZERO
  const { record } = call
  record.usage = usage
  record.provenance = provenance
  record.isClamped = isClamped
  record.cost = cost
  record.providerCost = price.providerCost
  record.shortfall = shortfall
  record.isCostUnreported = isCostUnreported
  return cost
}

/**
 * Frees the hold of a request that was not charged. Never rejects: a failure is reported, the hold then expires, and
 * the client still gets the answer or the error of its request, which says whether it may send the request again.
 */
export async function freeHold(
  { hold }: Pick<AdmittedRequest, 'hold'>,
  { holds, onSettleFailed }: Pick<SettleTextPorts, 'holds' | 'onSettleFailed'>,
): Promise<void> {
  try {
    await holds.release(hold)
  } catch (error) {
    onSettleFailed(error)
  }
}

/**
 * Whether a reply may name the cost: it must not follow from an estimate, nor from a cost that the upstream did not
 * report.
 */
export function isCostCertain(
  { provenance }: MeteredUsage,
  { tariff, isCostUnreported }: TextPrice,
): boolean {
  return tariff === null ? !isCostUnreported : provenance === 'reported'
}

/** The facts that an answer or a stream reports. */
type Produced = Pick<MeteredUsage, 'isClamped'> & {
  readonly usage: MeteredUsage['usage'] | null
  /** The reported input, if only the output is not reported. */
  readonly inputUsage?: MeteredUsage['usage']
  /** The features that the answer names beside its tokens. Absent if it names none. */
  readonly features?: BilledFeatures
  texts(): readonly string[]
  /** How many times longer the whole output is than `texts`; absent if they are all of it. */
  readonly textsScale?: number
}

export type MeterPorts = { readonly tokenizer: Tokenizer; readonly recentPrompts: RecentPrompts }

type Attempted = Pick<AttemptRecord<unknown>, 'destination'>

/**
 * The usage that the upstream reported or, if it reported none, the tokenizer's estimate of the input and the output.
 * An estimate is at most the worst case that the request was admitted with.
 */
export function meterUsage(
  produced: Produced,
  admitted: Metered,
  attempt: Attempted,
  ports: MeterPorts,
): Promise<MeteredUsage> {
  const { usage, isClamped } = produced
  if (usage === null) return estimateUsage(produced, admitted, attempt, ports)
  return Promise.resolve({ usage, provenance: 'reported', isClamped })
}

type Metered = Pick<AdmittedRequest, 'call' | 'request' | 'quote' | 'model'>

async function estimateUsage(
  produced: Produced,
  admitted: Metered,
  attempt: Attempted,
  ports: MeterPorts,
): Promise<MeteredUsage> {
  // A row without an output ceiling, such as an embedding, has no output.
  const { outputTokensMax = 0 } = usageLimits(admitted)
  const [read, written] = await Promise.all([
    produced.inputUsage ?? estimatePartlyCached(admitted, attempt, ports),
    ports.tokenizer.countTokens(produced.texts()),
  ])
  const output = Math.min(Math.ceil(written * (produced.textsScale ?? 1)), outputTokensMax)
  const assumedCached = produced.inputUsage === undefined ? read.cachedInput : 0
  const { features, isClamped } = produced
  return {
    usage: { ...read, output, ...features },
    provenance: 'estimated',
    isClamped,
    ...(assumedCached > 0 && { assumedCached }),
  }
}

/** The tokenizer's estimate of the input, at most that of the worst case. */
export async function estimateInput(
  { request, quote }: Pick<Metered, 'request' | 'quote'>,
  tokenizer: Tokenizer,
): Promise<Usage> {
  const { texts, tokens } = request.input()
  const read = await tokenizer.countTokens(texts)
  return { ...NO_USAGE, input: Math.min(read + tokens, quote.worst.inputTokens) }
}

/** The same, with the part that the last prompt suggests counted as cached. */
async function estimatePartlyCached(
  admitted: Metered,
  { destination }: Attempted,
  { tokenizer, recentPrompts }: MeterPorts,
): Promise<Usage> {
  const { input: inputTokens } = await estimateInput(admitted, tokenizer)
  const cachedInput = await recentPrompts.cachedTokens(admitted, destination, { inputTokens, tokenizer })
  return { ...NO_USAGE, input: inputTokens - cachedInput, cachedInput }
}

/**
 * What the upstream bills the operator: the cost that it reported, and the prices of its row. The provider's configured
 * header comes first: if an operator configured one, the provider bills by it.
 */
export function providerBillOf(
  produced: { readonly reportedCost: ExactUsd | null },
  header: string | null,
  { provider, upstream }: Pick<Destination, 'provider' | 'upstream'>,
): ProviderBill {
  const inHeader = header === null ? undefined : parseExactUsd(header, costUnits[provider.costUnit ?? 'usd'])
  return { reported: inHeader ?? produced.reportedCost, prices: costOf(upstream, provider, FREE_TEXT) }
}
