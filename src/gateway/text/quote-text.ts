import { rulesOf } from '../../domain/catalog/field-rule.ts'
import type { ChatModel, TextModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { ZERO, type NanoUsd } from '../../domain/money.ts'
import { dearestTier, tierFactor } from '../../domain/pricing/service-tiers.ts'
import type { TextPrices, TextPricing, TextTariff } from '../../domain/pricing/tariff.ts'
import { affordableOutputTokens, worstCasePrice, type WorstCase } from '../../domain/pricing/worst-case.ts'
import { NO_PRICED_FEATURES } from '../../protocol/request-features.ts'
import type { ServerTools, TextRequest } from '../../protocol/text-dialect.ts'
import type { Destination } from '../upstreams/destinations.ts'

/**
 * The prices and the worst case of one request. They are fixed at admission: editing the catalog does not change them
 * for this request.
 */
export type Quote = {
  readonly pricing: TextPricing
  readonly worst: WorstCase
  /** The largest input that any usage can have; undefined if the row does not state its model's context window. */
  readonly inputTokensMax: number | undefined
  /** The most uses of server tools that the request allows. Undefined if it does not limit them. */
  readonly serverToolUsesMax?: number | undefined
  /** The most searches of each kind that the request allows. Undefined if it does not limit them. */
  readonly toolCallsMax?: number | undefined
  /** The dearest service tier that the request may be served in; undefined for the standard one. */
  readonly dearestTier?: string | undefined
  /** The price of the worst case, which is held. */
  readonly amount: NanoUsd
}

/** Held for each kind of priced tool if the request does not limit their calls. Long research needs about this many. */
const ORDINARY_TOOL_CALLS = 10

/** The assumed context window if the row does not state one and the request's input cannot be measured. */
const UNKNOWN_WINDOW_TOKENS = 128_000

type Upstreams = readonly Pick<Destination, 'provider'>[]

/**
 * Prices the worst case: the estimated input, at most the context window, the output ceiling of the request, at most
 * that of the row, and the features that the row prices. Throws `ambiguous_field` if a request for such a row could be
 * read in two ways.
 */
export function quoteText(model: TextModel, request: TextRequest, upstreams: Upstreams = []): Quote {
  const window = model.contextWindow
  const inputTokensMax = window === undefined ? undefined : window * (request.separateInputs ?? 1)
  const ceiling = model.kind === 'chat' ? outputCeiling(model, request) : 0
  const tariff = ceilingTariff(model.pricing)
  const features = tariff === null ? NOTHING_PRICED : worstFeatures(model, tariff, request, upstreams)
  const worst = {
    inputTokens: inputMost(request.inputTokensEstimate, inputTokensMax),
    outputTokens: ceiling,
    choices: request.choices,
    serverToolUses: request.serverTools?.usesMax ?? 0,
    ...features.worst,
  }
  const amount = tariff === null ? ZERO : worstCasePrice(worst, tariff)
  const serverToolUsesMax = request.serverTools?.isLimited === true ? request.serverTools.usesMax : undefined
  return { pricing: model.pricing, worst, inputTokensMax, serverToolUsesMax, ...features.limits, amount }
}

type WorstFeatures = {
  readonly worst: Pick<WorstCase, 'searchCalls' | 'fileSearches' | 'tierFactor'>
  readonly limits: Pick<Quote, 'toolCallsMax' | 'dearestTier'>
}

const NOTHING_PRICED: WorstFeatures = { worst: {}, limits: {} }

/** The calls that the request's tools allow, and the dearest service tier that an upstream may serve it in. */
function worstFeatures(
  model: TextModel,
  tariff: TextTariff,
  request: TextRequest,
  upstreams: Upstreams,
): WorstFeatures {
  if (!pricesFeatures(tariff)) return NOTHING_PRICED
  const { serviceTier, hasSearch, hasFileSearch, toolCallsMax } =
    request.pricedFeatures?.() ?? NO_PRICED_FEATURES
  const calls = toolCallsMax ?? ORDINARY_TOOL_CALLS
  const dearest = dearestTier(tariff, serviceTier, tier => permitsTier(model, upstreams, tier))
  return {
    worst: {
      searchCalls: hasSearch ? calls : 0,
      fileSearches: hasFileSearch ? calls : 0,
      tierFactor: tierFactor(tariff, dearest),
    },
    limits: { toolCallsMax, dearestTier: dearest },
  }
}

function pricesFeatures(tariff: TextTariff): boolean {
  if (tariff.serviceTiers !== undefined || pricesSearches(tariff)) return true
  return tariff.tiers !== undefined && tariff.tiers.some(({ prices }) => pricesSearches(prices))
}

function pricesSearches({ perSearchCall, perFileSearch }: Partial<TextPrices>): boolean {
  return perSearchCall !== undefined || perFileSearch !== undefined
}

/** Whether one of the upstreams may get a request for this service tier. */
function permitsTier(model: TextModel, upstreams: Upstreams, tier: string): boolean {
  const permits = ({ provider }: Upstreams[number]) =>
    rulesOf(model, provider).every(({ path, allowed }) => path !== 'service_tier' || allowed.includes(tier))
  return upstreams.length === 0 || upstreams.some(permits)
}

/**
 * Throws `unpriced_feature` for a request that lets the model use tools of the provider, if the quote has no price for
 * their uses: the provider charges the operator for each.
 */
export function requireToolPrice({ name }: ServerTools, { pricing }: Quote): void {
  const tariff = ceilingTariff(pricing)
  if (tariff === null || tariff.perServerToolUse !== undefined) return
  const message = `The tool "${name}" runs at the provider, and this model has no price for such tools. Leave it out.`
  throw new GatewayError('unpriced_feature', message, { param: 'tools' })
}

/** A charge never counts more output than the row's ceiling, so that a request cannot hold more. */
function outputCeiling({ maxOutputTokens }: ChatModel, { outputCeiling: asked }: TextRequest): number {
  return asked === undefined ? maxOutputTokens : Math.min(asked, maxOutputTokens)
}

function inputMost(estimate: number, most: number | undefined): number {
  if (most !== undefined) return Math.min(estimate, most)
  return estimate === Infinity ? UNKNOWN_WINDOW_TOKENS : estimate
}

/** The largest output ceiling that `available` can pay for; undefined if no ceiling is small enough. */
export function affordableCeiling({ pricing, worst }: Quote, available: NanoUsd): number | undefined {
  const tariff = ceilingTariff(pricing)
  return tariff === null ? undefined : affordableOutputTokens(worst, tariff, available)
}

/** The tariff of the most that a row charges; null for a free row. */
export function ceilingTariff(pricing: TextPricing): TextTariff | null {
  if (pricing.kind === 'free') return null
  return pricing.kind === 'tariff' ? pricing.tariff : pricing.ceiling
}
