import { nanoUsd, type NanoUsd } from '../domain/money.ts'
import { lastNamed } from './json/members.ts'

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
const NANO_DIGITS = 9
/** More than any real cost has, and few enough to compute with. */
const COST_CHARS_MAX = 64
/** A number above 10^30 billionths is not a cost. Below 10^-100 of one, only the rounding is left. */
const SCALE_MAX = 30
const SCALE_MIN = -100

/**
 * Reads a cost in dollars: a decimal or JSON number of any precision, with or without an exponent. The result is exact
 * and rounded up once, to a billionth of a dollar. Undefined for anything else.
 */
export function parseReportedCost(text: string): NanoUsd | undefined {
  if (text.length > COST_CHARS_MAX) return undefined
  const match = NUMBER.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const scale = Number(exponent) - fraction.length + NANO_DIGITS
  if (digits === 0n) return nanoUsd(0n)
  if (scale > SCALE_MAX) return undefined
  const magnitude =
    scale >= 0 ? digits * 10n ** BigInt(scale) : dividedUp(digits, -Math.max(scale, SCALE_MIN))
  return nanoUsd(sign === '-' ? -magnitude : magnitude)
}

/**
 * Reads the upstream's own `usage.cost` in dollars from the digits in a reply's text, because a JSON number may be more
 * precise than a float. Null when there is none. `usage` is the parsed value of the reply's `usage`.
 */
export function findReportedCost(reply: string, usage: unknown): NanoUsd | null {
  const cost = (usage as { readonly cost?: unknown } | null | undefined)?.cost
  if (typeof cost === 'string') return parseReportedCost(cost) ?? null
  if (typeof cost !== 'number') return null
  const usageStart = lastNamed(reply, 'usage')?.start
  const written = usageStart === undefined ? undefined : lastNamed(reply, 'cost', usageStart)
  if (written === undefined) return null
  return parseReportedCost(reply.slice(written.start, written.end)) ?? null
}

function dividedUp(digits: bigint, places: number): bigint {
  const divisor = 10n ** BigInt(places)
  return (digits + divisor - 1n) / divisor
}
