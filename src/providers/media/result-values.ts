import type { Provider } from '../../domain/catalog/provider.ts'
import { nanoUsd, parseUsd, type NanoUsd, divideRoundingUp } from '../../domain/money.ts'
import { RECORDED_COST_MAX } from '../../domain/pricing/exact-usd.ts'
import type { MediaOutput } from '../../gateway/ports/providers/media-provider.ts'

/**
 * The output for a link. Some servers send the file itself as a data URL instead of a link. Undefined for any other
 * value.
 */
export function linkOutput(url: unknown): MediaOutput | undefined {
  if (typeof url !== 'string' || url === '') return undefined
  const [, base64] = /^data:[^,]{0,100};base64,(.*)$/is.exec(url) ?? []
  return base64 === undefined ? { from: 'url', url } : base64Output(base64)
}

/** Undefined for text that is not base64, and for an empty file. */
export function base64Output(base64: unknown): MediaOutput | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined
  try {
    const bytes = Uint8Array.fromBase64(base64)
    return bytes.length === 0 ? undefined : { from: 'bytes', bytes }
  } catch {
    return undefined
  }
}

/** The milliseconds of a clip's length in seconds, a number or its digits. Undefined for any other value. */
export function millisecondsOf(seconds: unknown): number | undefined {
  const isNumeric =
    typeof seconds === 'number' || (typeof seconds === 'string' && /^\d{1,6}(?:\.\d{1,9})?$/.test(seconds))
  const milliseconds = isNumeric ? Math.round(Number(seconds) * 1000) : 0
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? milliseconds : undefined
}

const BILLION = 1_000_000_000n
/** No job costs more credits. A larger number is not one. */
const CREDITS_MAX = 1_000_000_000

/**
 * The cost of a job that its provider states in its own unit, as a member of an outcome. Empty for anything but a
 * number of at least zero, for a cost that no job can have, and for a row that does not say what a unit costs.
 */
export function costOfCredits(
  credits: unknown,
  { creditUsd }: Pick<Provider, 'creditUsd'>,
): { readonly providerCost?: NanoUsd } {
  const billionths = billionthsOf(credits)
  if (creditUsd === undefined || billionths === undefined) return {}
  const providerCost = divideRoundingUp(billionths * creditUsd, BILLION)
  // The store could not write it, and a job that is done could not end.
  return providerCost > RECORDED_COST_MAX ? {} : { providerCost }
}

/** A number of credits, or its digits in a string, in billionths. */
function billionthsOf(credits: unknown): bigint | undefined {
  const isNumber = typeof credits === 'number' && Number.isFinite(credits)
  const text = isNumber && credits <= CREDITS_MAX ? credits.toFixed(9) : credits
  const billionths = typeof text === 'string' && text.length <= 30 ? parseUsd(text) : undefined
  return billionths === undefined || billionths < 0n ? undefined : nanoUsd(billionths)
}

/** No answer has more tokens. A larger number is not a count. */
const TOKENS_MAX = 100_000_000

/** A number of tokens; 0 for a value that is not one. */
export function countOf(value: unknown): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
  return isCount ? value : 0
}

/** A text that is not empty; undefined for any other value. */
export function shownText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
