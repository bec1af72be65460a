import { nanoUsd, type NanoUsd } from '../domain/money.ts'
import { lastNamed } from './json/members.ts'

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
const NANO_DIGITS = 9
/** More than any cost is written with, and little enough to compute with. */
const COST_CHARS_MAX = 64
/** Beyond 10^30 billionths a number is no cost; below 10^-100 of one it is nothing but rounding. */
const SCALE_MAX = 30
const SCALE_MIN = -100

/**
 * Reads a cost in dollars as upstreams write it: a decimal or JSON number of any precision, exponents included. Exact, and
 * rounded up once, to a billionth. Undefined for anything else.
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
 * The upstream's own `usage.cost`, in dollars, out of a reply's text: the digits as they stand there, since a JSON number may
 * be finer than a float. Null where there is none. `usage` is what the reply's `usage` was parsed to.
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
