import { pick, type Random } from './seeded-random.ts'

/** Each word is one token, with or without a space before it. */
const WORDS = [
  'amber',
  'basin',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbour',
  'island',
  'juniper',
  'kettle',
  'lantern',
  'meadow',
  'north',
  'orchard',
  'pebble',
  'quartz',
  'river',
  'spruce',
  'timber',
  'upland',
  'valley',
  'willow',
  'yonder',
  'zephyr',
  'and',
  'beside',
  'beyond',
  'drifts',
  'gathers',
  'near',
  'over',
  'rests',
  'the',
  'turns',
  'under',
  'wanders',
  'with',
] as const

const SENTENCE_WORDS = 9
const QUOTE_CHARACTERS_MAX = 60

/** The default text: it names the sandbox, quotes the question and fills the rest with random words. */
export function sandboxText(question: string, random: Random, tokens: number | undefined): string {
  const quoted = question.replace(/\s+/gu, ' ').trim()
  const quote = Array.from(quoted).slice(0, QUOTE_CHARACTERS_MAX).join('')
  const quotation = quote === '' ? '' : ` You wrote: "${quote}".`
  const opening = tokenize(`This is the sandbox, not a model.${quotation}`)
  const length = tokens ?? opening.length + 12 + Math.floor(random() * 24)
  const pieces = opening.slice(0, length)
  while (pieces.length < length) pieces.push(nextPiece(pieces.length, random))
  return pieces.join('')
}

function nextPiece(position: number, random: Random): string {
  return position % (SENTENCE_WORDS + 1) === SENTENCE_WORDS ? '.' : ` ${pick(WORDS, random)}`
}

/** Up to eight letters, up to three digits, or any other single character; with the white space before it. */
const TOKEN = /\s*(?:[\p{L}\p{M}]{1,8}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}])|\s+$/gu

/** Splits a text into the sandbox's tokens. Joined, they are the text again, so a text can be cut after any of them. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? []
}

export function countTokens(text: string): number {
  return tokenize(text).length
}
