import { nanoUsd, usd, type NanoUsd, divideRoundingUp } from '../money.ts'

/**
 * US dollars with any number of decimals: `units` × 10^-`scale`. A provider's own cost and its bill have more decimals
 * than a nano-USD. They stay exact: a cost is rounded only once, with its charge. `scale` is at least 0.
 */
export type ExactUsd = { readonly units: bigint; readonly scale: number }

export const ZERO_EXACT_USD: ExactUsd = { units: 0n, scale: 0 }

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
/** More than any real cost has, and few enough to compute with. */
const CHARS_MAX = 64
/** The exponents of an amount's last digit. An amount beyond them is not a cost. */
const EXPONENT_MAX = 21
const EXPONENT_MIN = -128
const NANO_DIGITS = 9

/** More than any answer or job costs a provider. It keeps sums of recorded costs inside 64 bits. */
export const RECORDED_COST_MAX = usd('1000000')

/**
 * Reads a decimal or JSON number, with or without an exponent, without losing a digit. `unitDecimals` is the position
 * of its unit: 0 for dollars, 2 for cents. Undefined for anything else, and for a number that is too long or too large
 * to be a cost.
 */
export function parseExactUsd(text: string, unitDecimals = 0): ExactUsd | undefined {
  if (text.length > CHARS_MAX) return undefined
  const match = NUMBER.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return ZERO_EXACT_USD
  const last = Number(exponent) - fraction.length - unitDecimals
  if (last > EXPONENT_MAX || last < EXPONENT_MIN) return undefined
  const magnitude = last > 0 ? digits * 10n ** BigInt(last) : digits
  return { units: sign === '-' ? -magnitude : magnitude, scale: Math.max(0, -last) }
}

export function addExactUsd(left: ExactUsd, right: ExactUsd): ExactUsd {
  const scale = Math.max(left.scale, right.scale)
  return { units: unitsAt(left, scale) + unitsAt(right, scale), scale }
}

export function subtractExactUsd(left: ExactUsd, right: ExactUsd): ExactUsd {
  return addExactUsd(left, { ...right, units: 0n - right.units })
}

/** Positive if the left amount is farther from zero, negative if the right one is. */
export function compareMagnitudes(left: ExactUsd, right: ExactUsd): number {
  const scale = Math.max(left.scale, right.scale)
  const [one, other] = [magnitudeOf(unitsAt(left, scale)), magnitudeOf(unitsAt(right, scale))]
  return one === other ? 0 : one > other ? 1 : -1
}

/** The canonical decimal string, like `formatUsd`: no trailing zeros, no trailing point, `"0"` for zero. */
export function formatExactUsd({ units, scale }: ExactUsd): string {
  if (units < 0n) return `-${formatExactUsd({ units: 0n - units, scale })}`
  const digits = units.toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}

/** The amount in nano-USD, rounded up. The amount is not negative. */
export function roundUpToNanoUsd({ units, scale }: ExactUsd): NanoUsd {
  return scale > NANO_DIGITS
    ? divideRoundingUp(units, 10n ** BigInt(scale - NANO_DIGITS))
    : nanoUsd(unitsAt({ units, scale }, NANO_DIGITS))
}

function unitsAt({ units, scale }: ExactUsd, finerScale: number): bigint {
  return units * 10n ** BigInt(finerScale - scale)
}

function magnitudeOf(units: bigint): bigint {
  return units < 0n ? 0n - units : units
}
