/** What every key begins with, so that it is recognised wherever it turns up. */
const MARK = 'tg_live_'
export const KEY_BYTES = 32
/** 43 digits in base 62 are the fewest that hold every 256-bit number. */
const KEY_DIGITS = 43
/** By this much of a key it is listed: its mark and four digits, which tell too little to guess the rest. */
const PREFIX_LENGTH = 12
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

/** A key is its mark and 32 random bytes as a base-62 number of fixed width. Throws a RangeError for any other count. */
export function apiKeyText(random: Uint8Array): string {
  if (random.length !== KEY_BYTES) throw new RangeError(`A key needs ${KEY_BYTES} random bytes.`)
  let rest = 0n
  for (const byte of random) rest = (rest << 8n) | BigInt(byte)
  let digits = ''
  for (let index = 0; index < KEY_DIGITS; index += 1) {
    digits = BASE62.charAt(Number(rest % BASE)) + digits
    rest /= BASE
  }
  return MARK + digits
}

/** The part of a key that is stored and shown in lists. */
export function apiKeyPrefix(text: string): string {
  return text.slice(0, PREFIX_LENGTH)
}
