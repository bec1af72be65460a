import { parseExactUsd, type ExactUsd } from '../domain/pricing/exact-usd.ts'
import { lastNamed } from './json/members.ts'

/**
 * Reads the upstream's own `usage.cost` in dollars from the digits in a reply's text, because a JSON number may be more
 * precise than a float. Null when there is none. `usage` is the parsed value of the reply's `usage`.
 */
export function findReportedCost(reply: string, usage: unknown): ExactUsd | null {
  const cost = (usage as { readonly cost?: unknown } | null | undefined)?.cost
  if (typeof cost === 'string') return parseExactUsd(cost) ?? null
  if (typeof cost !== 'number') return null
  const usageStart = lastNamed(reply, 'usage')?.start
  const written = usageStart === undefined ? undefined : lastNamed(reply, 'cost', usageStart)
  if (written === undefined) return null
  return parseExactUsd(reply.slice(written.start, written.end)) ?? null
}
