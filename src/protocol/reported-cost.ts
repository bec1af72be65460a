import { addExactUsd, parseExactUsd, type ExactUsd } from '../domain/pricing/exact-usd.ts'
import { isJsonObject } from './json/parse-json.ts'
import { lastNamed } from './json/members.ts'

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
 * Reads the provider's own cost in a usage from the digits in the JSON text, because a number may be more precise than a
 * float. Null if there is none. `usage` is the parsed value of the last member `usage` of the object in `json`.
 *
 * Without a `field`, this is the cost as OpenRouter reports it: if the request used the customer's own key
 * (`is_byok`), the cost of the provider behind it is added, because it is billed to that key.
 */
export function findReportedCost(
  usage: unknown,
  json: () => string,
  field: CostField | undefined,
): ExactUsd | null {
  if (!isJsonObject(usage)) return null
  if (field !== undefined) return costAt(usage, json, field)
  const cost = costAt(usage, json, COST)
  if (usage['is_byok'] !== true) return cost
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
