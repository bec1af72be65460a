import { chargedTier } from '../domain/pricing/service-tiers.ts'
import type { Usage } from '../domain/pricing/usage.ts'
import { isJsonObject } from './json/parse-json.ts'
import type { UsageLimits } from './text-dialect.ts'

/** The features that an answer names beside its tokens: calls of tools that have a price, and its service tier. */
export type BilledFeatures = Pick<Usage, 'searchCalls' | 'fileSearches' | 'serviceTier'>

export const NO_FEATURES: BilledFeatures = { searchCalls: 0, fileSearches: 0 }

/** More than any answer has. It bounds the cost of a faulty answer. */
const TOOL_CALLS_MAX = 10_000
/** Longer names are not the names of tiers. */
const TIER_LENGTH_MAX = 32

type JsonObject = Readonly<Record<string, unknown>>

/** The features of a complete answer of any text route. Providers name the tier beside the usage or in it. */
export function featuresOf({ service_tier: tier, usage, output }: JsonObject): BilledFeatures {
  return withTier(callsIn(output), tier ?? (isJsonObject(usage) ? usage['service_tier'] : undefined))
}

/** Counts the calls of tools in the `output` of a response. */
export function callsIn(output: unknown): BilledFeatures {
  if (!Array.isArray(output)) return NO_FEATURES
  let searchCalls = 0
  let fileSearches = 0
  for (const item of output) {
    if (isSearchCall(item)) searchCalls += 1
    else if (isFileSearch(item)) fileSearches += 1
  }
  return searchCalls + fileSearches === 0 ? NO_FEATURES : { searchCalls, fileSearches }
}

/** Opening a page and finding a text in it are not searches. Items of earlier versions name no action. */
export function isSearchCall(item: unknown): boolean {
  if (!isJsonObject(item) || item['type'] !== 'web_search_call') return false
  const { action } = item
  return !isJsonObject(action) || action['type'] === 'search'
}

export function isFileSearch(item: unknown): boolean {
  return isJsonObject(item) && item['type'] === 'file_search_call'
}

/** Adds a tier as an upstream sent it, of any type. */
export function withTier(features: BilledFeatures, tier: unknown): BilledFeatures {
  return typeof tier === 'string' && tier !== '' && tier.length <= TIER_LENGTH_MAX
    ? { ...features, serviceTier: tier }
    : features
}

/** The features that are charged: calls that the request allows, and a tier that the hold covers. */
export function clampedFeatures(
  reported: BilledFeatures,
  { toolCallsMax = TOOL_CALLS_MAX, tierLimit }: UsageLimits,
): { readonly features: BilledFeatures; readonly isClamped: boolean } {
  const searchCalls = Math.min(reported.searchCalls, toolCallsMax)
  const fileSearches = Math.min(reported.fileSearches, toolCallsMax)
  const tier = chargedTier(reported.serviceTier, tierLimit)
  const isClamped =
    searchCalls < reported.searchCalls ||
    fileSearches < reported.fileSearches ||
    tier !== reported.serviceTier
  if (!isClamped) return { features: reported, isClamped }
  return { features: withTier({ searchCalls, fileSearches }, tier), isClamped }
}
