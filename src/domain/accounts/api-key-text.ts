/** The prefix of every key. Secret scanners recognise a leaked key by it. */
const MARK = 'tg_live_'
export const KEY_BYTES = 32
/** The fewest base-62 digits that can hold every 256-bit number. */
const KEY_DIGITS = 43
/** Keys are listed by this many characters: the prefix and four digits, which are too few to guess the rest. */
export const KEY_PREFIX_LENGTH = 12
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

/**
 * Makes a key of 32 random bytes, as a base-62 number with a fixed number of digits. Throws a RangeError for another
 * number of bytes.
 */
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
  return text.slice(0, KEY_PREFIX_LENGTH)
}

/** Whether a text is a key, or the beginning of one. */
export function isApiKeyText(text: string): boolean {
  return text.startsWith(MARK)
}

const TEXTS = new RegExp(`(${MARK}[0-9A-Za-z]{${KEY_PREFIX_LENGTH - MARK.length}})[0-9A-Za-z]+`, 'g')

/** A message with each text of a key cut to the part that lists show. */
export function withoutKeyTexts(message: string): string {
  return message.replace(TEXTS, '$1…')
}
