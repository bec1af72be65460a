import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import type { AdmittedRequest } from './admit-text.ts'
import {
  BLOCK_CHARS,
  BLOCKS_MAX,
  PROMPT_BLOCKS_MAX,
  PROMPT_TTL_MS,
  PROMPTS_MAX,
  RecentPrompts,
} from './recent-prompts.ts'

const main = aDestination('main')
const ada = { accountId: 1, apiKeyId: 1 }
/** A token for each character, so that the expected numbers can be read off the prompts. */
const tokenizer = {
  countTokens: async (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0),
}

/** A simple hash of all characters. */
function sumOf(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) >>> 0
  return sum
}

function setUp({ hash = sumOf } = {}) {
  const clock = fakeClock()
  const prompts = new RecentPrompts({ clock, hash })
  /** A complete request with this prompt and these reported cached tokens. */
  const note = (prompt: string, cachedInput: number, { payer = ada, destination = main } = {}) =>
    prompts.note(sent(prompt, payer), destination, { ...NO_USAGE, input: 1, cachedInput })
  /** The cached part of a request with this prompt, whose input is estimated as one token for each character. */
  const cached = (prompt: string, { payer = ada, destination = main, inputTokens = prompt.length } = {}) =>
    prompts.cachedTokens(sent(prompt, payer), destination, { inputTokens, tokenizer })
  return { clock, prompts, note, cached }
}

function sent(
  prompt: string,
  payer: { readonly accountId: number; readonly apiKeyId: number },
): AdmittedRequest {
  const admitted = anAdmittedRequest([main], payer)
  return { ...admitted, request: { ...admitted.request, prompt: () => prompt } }
}

/** A text without repetition. */
function text(chars: number, seed = 'a'): string {
  let written = ''
  for (let word = 0; written.length < chars; word += 1) written += `${seed}${word} `
  return written.slice(0, chars)
}

describe('an estimated input counts as cached', () => {
  test.each<[string, string, string, number, number]>([
    ['as a whole, if the prompt is the same', text(5000), text(5000), 9999, 5000],
    ['at most the cached tokens of the last prompt', text(5000), text(5000), 4000, 4000],
    ['as far as it continues the last prompt', text(5000), text(5000) + text(3000, 'b'), 9999, 5000],
    [
      'up to the block with the first difference',
      text(5000),
      `${text(4500)}|${text(3000)}`,
      9999,
      4 * BLOCK_CHARS,
    ],
    ['up to its own last whole block, if the last prompt is longer', text(5000), text(4500), 9999, 4096],
    ['not at all, if it begins in another way', text(5000), text(5000, 'b'), 9999, 0],
    ['as a whole, if the prompt is shorter than a block', 'Hello', 'Hello', 9999, 5],
    ['not at all without a prompt', '', '', 9999, 0],
  ])('an estimated input counts as cached %s', async (_, before, now, reported, expected) => {
    const { note, cached } = setUp()
    note(before, reported)

    expect(await cached(now)).toBe(expected)
  })

  test.each([1000, 1001])(
    'an estimated input counts as cached by its share of %d tokens, rounded down',
    async inputTokens => {
      const { note, cached } = setUp()
      note(text(2048), 9999)

      expect(await cached(text(2048) + text(2048, 'b'), { inputTokens })).toBe(500)
    },
  )

  test('an estimated input counts as cached only within five minutes', async () => {
    const { note, cached, clock } = setUp()
    note(text(5000), 9999)

    clock.advance(PROMPT_TTL_MS - 1)
    const before = await cached(text(5000))
    clock.advance(1)

    expect([before, await cached(text(5000))]).toEqual([5000, 0])
  })

  test.each([
    ['of the same key', { payer: { accountId: 1, apiKeyId: 2 } }],
    ['at the same provider', { destination: aDestination('other') }],
    [
      'for the same model of the provider',
      { destination: { ...main, upstream: { ...main.upstream, model: 'other' } } },
    ],
  ])('an estimated input counts as cached only after a request %s', async (_, other) => {
    const { note, cached } = setUp()
    note(text(5000), 9999, other)

    expect([await cached(text(5000)), await cached(text(5000), other)]).toEqual([0, 5000])
  })

  test('an estimated input counts as cached only by the last complete request', async () => {
    const { note, cached } = setUp()
    note(text(5000), 9999)

    note(text(5000, 'b'), 9999)
    const replaced = await cached(text(5000))
    note(text(5000), 0)

    expect([replaced, await cached(text(5000, 'b')), await cached(text(5000))]).toEqual([0, 0, 0])
  })
})

describe('remembered prompts', () => {
  test('remembered prompts are limited in number: the oldest is forgotten', async () => {
    const { note, cached, prompts } = setUp()
    for (let apiKeyId = 0; apiKeyId <= PROMPTS_MAX; apiKeyId += 1)
      note('Hello', 9999, { payer: { accountId: 1, apiKeyId } })

    expect(prompts.size).toBe(PROMPTS_MAX)
    expect(await cached('Hello', { payer: { accountId: 1, apiKeyId: 0 } })).toBe(0)
    expect(await cached('Hello', { payer: { accountId: 1, apiKeyId: 1 } })).toBe(5)
  })

  test('remembered prompts are limited in length: the first part of a very long one is remembered', async () => {
    const { note, cached } = setUp()
    const most = PROMPT_BLOCKS_MAX * BLOCK_CHARS
    const long = 'x'.repeat(most + 1)
    note(long, Number.MAX_SAFE_INTEGER)

    expect(await cached(long)).toBe(most)
  })

  test('remembered prompts are limited in their lengths together', () => {
    const { note, prompts } = setUp({ hash: () => 0 })
    const long = 'x'.repeat(PROMPT_BLOCKS_MAX * BLOCK_CHARS)
    const fitting = Math.floor(BLOCKS_MAX / PROMPT_BLOCKS_MAX)
    for (let apiKeyId = 0; apiKeyId < fitting + 2; apiKeyId += 1)
      note(long, 1, { payer: { accountId: 1, apiKeyId } })

    expect(prompts.size).toBe(fitting)
  })

  test('remembered prompts are forgotten when they are too old', () => {
    const { note, prompts, clock } = setUp()
    note('Hello', 1, { payer: { accountId: 1, apiKeyId: 2 } })
    clock.advance(PROMPT_TTL_MS)

    note('Hello', 1)

    expect(prompts.size).toBe(1)
  })

  test('remembered prompts are not kept of a request without cached tokens', () => {
    const { note, prompts } = setUp()

    note('Hello', 0)

    expect(prompts.size).toBe(0)
  })
})
