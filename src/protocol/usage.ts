import { addExactUsd, parseExactUsd, type ExactUsd } from '../domain/pricing/exact-usd.ts'
import { chargedTier } from '../domain/pricing/service-tiers.ts'
import { NO_USAGE, usageBuckets, type Usage } from '../domain/pricing/usage.ts'
import { lastNamed } from './json/json-text.ts'
import { isJsonObject, type JsonObject } from './json/parse-json.ts'
import type { UsageLimits } from './text-dialect.ts'

type ReportedUsage = {
  readonly usage: Usage
  /** True when an impossible count was replaced by the nearest possible one. */
  readonly isClamped: boolean
}

/**
 * For rows without a maximum: ten times the largest context window on offer, so that a faulty count has a finite cost.
 */
export const TOKENS_MAX = 100_000_000

/** More than any answer has. It bounds the cost of a faulty count. */
const SERVER_TOOL_USES_MAX = 10_000

/** More compactions than one answer can need. It bounds the cost of a faulty list. */
export const COMPACTIONS_MAX = 100

/**
 * Reads the usage object of any text route into disjoint buckets. Null when there is none, or when it counts no tokens.
 * Explicit zeros stay zero. A count that is negative, fractional or not a number is 0, and one above its limit is the
 * limit.
 */
export function readUsage(usage: unknown, limits: UsageLimits): ReportedUsage | null {
  if (!isJsonObject(usage)) return null
  const completion = usage['completion_tokens'] ?? usage['output_tokens']
  const total = usage['total_tokens']
  const prompt = usage['prompt_tokens'] ?? usage['input_tokens'] ?? restOf(total, completion)
  if (isAbsent(prompt) && isAbsent(completion)) return null
  const totals = { prompt, completion, total }
  const counter = new Counter()
  const input = readInput(usage, totals, counter, limits.inputTokensMax ?? TOKENS_MAX)
  const inputRead = input.input + input.cachedInput + input.cacheWrite + input.audioInput
  const output = readOutput(usage, { ...totals, inputRead }, counter, limits)
  const read = {
    ...NO_USAGE,
    input: input.input,
    cachedInput: input.cachedInput,
    cacheWrite: input.cacheWrite - input.cacheWrite1h,
    cacheWrite1h: input.cacheWrite1h,
    audioInput: input.audioInput,
    output: output.output,
    reasoning: output.reasoning,
    audioOutput: output.audioOutput,
    serverToolUses: readServerToolUses(usage, counter, limits.serverToolUsesMax ?? SERVER_TOOL_USES_MAX),
  }
  return withCompactions({ usage: read, isClamped: counter.isClamped }, usage['iterations'], limits)
}

/**
 * Adds the compactions of a conversation, which Anthropic counts only in `usage.iterations`. Each one is a call of the
 * model, so each is clamped separately. The top-level counts include the other iterations, or another model made them.
 */
function withCompactions(reported: ReportedUsage, iterations: unknown, limits: UsageLimits): ReportedUsage {
  if (!Array.isArray(iterations)) return reported
  const compactions = iterations.filter(
    iteration => isJsonObject(iteration) && iteration['type'] === 'compaction',
  ) as Counts[]
  let { isClamped } = reported
  const usage: { -readonly [Key in keyof Usage]: Usage[Key] } = { ...reported.usage }
  for (const { iterations: _, server_tool_use: _uses, ...counts } of compactions.slice(0, COMPACTIONS_MAX)) {
    const compaction = readUsage(counts, limits)
    if (compaction === null) continue
    for (const bucket of usageBuckets) usage[bucket] += compaction.usage[bucket]
    isClamped ||= compaction.isClamped
  }
  return { usage, isClamped: isClamped || compactions.length > COMPACTIONS_MAX }
}

type Counts = Readonly<Record<string, unknown>>

/** The values as the upstream sent them, of any type. */
type Totals = { readonly prompt: unknown; readonly completion: unknown; readonly total: unknown }

const NO_COUNTS: Counts = {}

/** Its uses only search the request's own list of tools, which providers do not charge for. */
const TOOL_SEARCHES = 'tool_search_requests'

/** The disjoint parts of the input. `cacheWrite1h` is a part of `cacheWrite`. */
function readInput(usage: Counts, totals: Totals, counter: Counter, max: number) {
  const input = readInputTotals(usage, totals, counter, max)
  const cacheWrite1h =
    input.cacheWrite === 0 || isAbsent(usage['cache_creation'])
      ? 0
      : counter.count(countsIn(usage['cache_creation'])['ephemeral_1h_input_tokens'], input.cacheWrite)
  return { ...input, cacheWrite1h }
}

/**
 * OpenAI counts cached tokens inside `prompt_tokens`, Anthropic beside `input_tokens`, and relays mix the names of
 * both. Each token goes into one bucket in every case.
 */
function readInputTotals(usage: Counts, totals: Totals, counter: Counter, max: number) {
  const details = countsIn(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const whole = counter.count(totals.prompt, max)
  const cachedWithin = counter.count(
    details['cached_tokens'] ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'],
    max,
  )
  const writtenWithin = counter.count(
    details['cache_write_tokens'] ??
      details['cache_creation_tokens'] ??
      details['cache_creation_input_tokens'],
    max,
  )
  const audio = counter.count(details['audio_tokens'], max)
  // A relay that sends both names means the same tokens.
  const cached = Math.max(cachedWithin, counter.count(usage['cache_read_input_tokens'], max))
  const written = Math.max(writtenWithin, counter.count(usage['cache_creation_input_tokens'], max))
  const cache = cached + written
  const isNamedWithin = cachedWithin + writtenWithin > 0
  if (cache > 0 && isCacheBeside(usage, totals, { cache, whole, isNamedWithin })) {
    const audioInput = counter.atMost(whole, audio)
    const cachedInput = counter.atMost(max - whole, cached)
    const cacheWrite = counter.atMost(max - whole - cachedInput, written)
    return { input: whole - audioInput, cachedInput, cacheWrite, audioInput }
  }
  const cachedInput = counter.atMost(whole, cached)
  const cacheWrite = counter.atMost(whole - cachedInput, written)
  // Cached audio is counted in both places. It gets the lower price of the cache.
  const audioInput = Math.min(counter.atMost(whole, audio), whole - cachedInput - cacheWrite)
  return { input: whole - cachedInput - cacheWrite - audioInput, cachedInput, cacheWrite, audioInput }
}

/** Whether the cached tokens are counted beside the prompt's count, not inside it. */
function isCacheBeside(
  usage: Counts,
  { prompt, completion, total }: Totals,
  { cache, whole, isNamedWithin }: { cache: number; whole: number; isNamedWithin: boolean },
): boolean {
  const fits = cache <= whole
  // xAI sometimes counts cached tokens beside the prompt, under OpenAI's name.
  if (isNamedWithin) return !fits
  // `prompt_tokens` and a total without room for a cache beside it mean that OpenAI's way of counting is used.
  const isOpenAi = !isAbsent(usage['prompt_tokens']) && fits && isSum(total, [prompt, completion])
  return !isOpenAi
}

/** `inputRead` is the sum of all input buckets: more than the prompt if the cache is beside it. */
type TotalsAndInput = Totals & { readonly inputRead: number }

function readOutput(usage: Counts, totals: TotalsAndInput, counter: Counter, limits: UsageLimits) {
  const max = limits.outputTokensMax ?? TOKENS_MAX
  const details = countsIn(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  const whole = counter.count(totals.completion, max)
  const reported = details['reasoning_tokens'] ?? details['thinking_tokens']
  const hidden = limits.hidesThinking === true && isAbsent(reported) ? hiddenThinking(totals) : undefined
  const reasoned = counter.count(hidden ?? reported, max)
  const audio = counter.count(details['audio_tokens'], max)
  if (hidden !== undefined || isReasoningBeside(totals, reasoned)) {
    const audioOutput = counter.atMost(whole, audio)
    return { output: whole - audioOutput, reasoning: counter.atMost(max - whole, reasoned), audioOutput }
  }
  const reasoning = counter.atMost(whole, reasoned)
  const audioOutput = Math.min(counter.atMost(whole, audio), whole - reasoning)
  return { output: whole - reasoning - audioOutput, reasoning, audioOutput }
}

/** xAI counts reasoning beside `completion_tokens`. Only its total shows that. */
function isReasoningBeside(
  { prompt, completion, total, inputRead }: TotalsAndInput,
  reasoned: number,
): boolean {
  if (reasoned === 0) return false
  return isSum(total, [prompt, completion, reasoned]) || isSum(total, [inputRead, completion, reasoned])
}

/** The tokens that only the total counts. Undefined if there are none, or if the counts do not show it. */
function hiddenThinking({ prompt, completion, total, inputRead }: TotalsAndInput): number | undefined {
  if (typeof prompt !== 'number' || typeof completion !== 'number' || typeof total !== 'number')
    return undefined
  const rest = total - Math.max(prompt, inputRead) - completion
  return rest > 0 ? rest : undefined
}

/** The uses of all tools that ran on the provider's servers. */
function readServerToolUses(usage: Counts, counter: Counter, max: number): number {
  const uses = usage['server_tool_use']
  if (isAbsent(uses)) return 0
  let sum = 0
  for (const [tool, count] of Object.entries(countsIn(uses)))
    if (tool !== TOOL_SEARCHES) sum += counter.count(count, max)
  return counter.atMost(max, sum)
}

/** Reads counts, and remembers whether one was impossible. */
class Counter {
  isClamped = false

  count(value: unknown, max: number): number {
    if (isAbsent(value)) return 0
    if (typeof value === 'number' && value > max) return this.clampTo(max)
    return Number.isInteger(value) && (value as number) >= 0 ? (value as number) : this.clampTo(0)
  }

  atMost(max: number, count: number): number {
    return count > max ? this.clampTo(max) : count
  }

  private clampTo(possible: number): number {
    this.isClamped = true
    return possible
  }
}

function isSum(total: unknown, parts: readonly unknown[]): boolean {
  return (
    typeof total === 'number' && total === parts.reduce<number>((sum, part) => sum + Number(part ?? 0), 0)
  )
}

/** The prompt's count on a route that only reports a total, such as embeddings. */
function restOf(total: unknown, completion: unknown): unknown {
  return typeof total === 'number' && typeof completion === 'number' ? total - completion : total
}

function countsIn(details: unknown): Counts {
  return !isAbsent(details) && isJsonObject(details) ? details : NO_COUNTS
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** The features that an answer names beside its tokens: calls of tools that have a price, and its service tier. */
export type BilledFeatures = Pick<Usage, 'searchCalls' | 'fileSearches' | 'serviceTier'>

export const NO_FEATURES: BilledFeatures = { searchCalls: 0, fileSearches: 0 }

/** More than any answer has. It bounds the cost of a faulty answer. */
const TOOL_CALLS_MAX = 10_000
/** Longer names are not the names of tiers. */
const TIER_LENGTH_MAX = 32

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

/** Where a usage has the provider's own cost. */
export type CostField = {
  /** The names of its members, without `usage`. */
  readonly path: readonly string[]
  /** The position of the unit: 0 for dollars, 2 for cents. */
  readonly unitDecimals: number
}

/** `usage.cost` in dollars, as OpenRouter reports it. */
const COST: CostField = { path: ['cost'], unitDecimals: 0 }
/** The cost that another provider bills to the own key of OpenRouter's customer. */
const UPSTREAM_COST: CostField = { path: ['cost_details', 'upstream_inference_cost'], unitDecimals: 0 }

/**
 * Reads the provider's own cost in a usage from the digits in the JSON text, because a number may be more precise than
 * a float. Null if there is none. `usage` is the parsed value of the last member `usage` of the object in `json`.
 *
 * Without a `field`, this is the cost as OpenRouter reports it: if the request used the customer's own key (`is_byok`),
 * the cost of the provider behind it is added, because it is billed to that key.
 */
export function findReportedCost(
  usage: unknown,
  json: () => string,
  field: CostField | undefined,
): ExactUsd | null {
  if (field !== undefined) return costAt(usage, json, field)
  const cost = costAt(usage, json, COST)
  if (!isJsonObject(usage) || usage['is_byok'] !== true) return cost
  const upstreamCost = costAt(usage, json, UPSTREAM_COST)
  return cost === null || upstreamCost === null ? (cost ?? upstreamCost) : addExactUsd(cost, upstreamCost)
}

function costAt(usage: unknown, json: () => string, { path, unitDecimals }: CostField): ExactUsd | null {
  let cost = usage
  for (const name of path) cost = isJsonObject(cost) ? cost[name] : undefined
  if (typeof cost === 'string') return parseExactUsd(cost, unitDecimals) ?? null
  if (typeof cost !== 'number') return null
  const text = json()
  let place = lastNamed(text, 'usage')
  for (const name of path) place = place && lastNamed(text, name, place.start)
  if (place === undefined) return null
  return parseExactUsd(text.slice(place.start, place.end), unitDecimals) ?? null
}
