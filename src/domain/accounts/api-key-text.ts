/** The prefix of every key. Secret scanners recognise a leaked key by it. */
const MARK = 'tg_live_'
/** The prefix of every admin token. The admin keys that a first start makes have it too, and are shorter. */
const TOKEN_MARK = 'tg_admin_'
export const KEY_BYTES = 32
/** The fewest base-62 digits that can hold every 256-bit number. */
const KEY_DIGITS = 43
/** Keys are listed by this many characters: the prefix and four digits, which are too few to guess the rest. */
export const KEY_PREFIX_LENGTH = 12
/** Admin tokens are listed by this many characters: the prefix and four digits. */
export const TOKEN_PREFIX_LENGTH = 13
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

/**
 * Makes a key of 32 random bytes, as a base-62 number with a fixed number of digits. Throws a RangeError for another
 * number of bytes.
 */
export function apiKeyText(random: Uint8Array): string {
  return MARK + digitsOf(random)
}

/** Makes an admin token, like `apiKeyText`. */
export function adminTokenText(random: Uint8Array): string {
  return TOKEN_MARK + digitsOf(random)
}

function digitsOf(random: Uint8Array): string {
  if (random.length !== KEY_BYTES) throw new RangeError(`A key needs ${KEY_BYTES} random bytes.`)
  let rest = 0n
  for (const byte of random) rest = (rest << 8n) | BigInt(byte)
  let digits = ''
  for (let index = 0; index < KEY_DIGITS; index += 1) {
    digits = BASE62.charAt(Number(rest % BASE)) + digits
    rest /= BASE
  }
  return digits
}

/** The part of a key that is stored and shown in lists. */
export function apiKeyPrefix(text: string): string {
  return text.slice(0, KEY_PREFIX_LENGTH)
}

/** The part of an admin token that is stored and shown in lists. */
export function adminTokenPrefix(text: string): string {
  return text.slice(0, TOKEN_PREFIX_LENGTH)
}

const TOKEN_TEXT = new RegExp(`^${TOKEN_MARK}[0-9A-Za-z]{${KEY_DIGITS}}$`)

/** Whether a text has the form of an admin token. */
export function isAdminTokenText(text: string): boolean {
  return TOKEN_TEXT.test(text)
}

/** Whether a text begins as an admin token does. */
export function beginsAdminToken(text: string): boolean {
  return text.startsWith(TOKEN_MARK)
}

/** Whether a text is a key, or the beginning of one. */
export function isApiKeyText(text: string): boolean {
  return text.startsWith(MARK)
}

const SHOWN_DIGITS = `[0-9A-Za-z]{${KEY_PREFIX_LENGTH - MARK.length}}`
const TEXTS = new RegExp(`((?:${MARK}|${TOKEN_MARK})${SHOWN_DIGITS})[0-9A-Za-z]+`, 'g')

/** A message with each text of a key or an admin token cut to the part that lists show. */
export function withoutKeyTexts(message: string): string {
  return message.replace(TEXTS, '$1…')
}
