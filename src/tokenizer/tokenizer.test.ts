import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { exactCount } from './exact-count.ts'
import {
  roughCount,
  CALL_CHARS_MAX,
  openTokenizer,
  ANSWER_WITHIN_MS,
  WAITING_CHARS_MAX,
  type OpenTokenizer,
} from './tokenizer.ts'

const text = 'The gateway counts what the upstream did not: “naïve”, 你好, {"a":[1,2]}. '
const opened: OpenTokenizer[] = []

/** The worker has all the time that a busy machine needs. */
const patient = { after: () => () => undefined }

function open(worker?: string): OpenTokenizer {
  const tokenizer = worker === undefined ? openTokenizer(patient) : openTokenizer(patient, new URL(worker))
  opened.push(tokenizer)
  return tokenizer
}

afterEach(() => {
  for (const tokenizer of opened.splice(0)) tokenizer.close()
})

describe('a tokenizer', () => {
  // Starting a worker takes a third of a second.
  const shared = openTokenizer(patient)
  afterAll(() => shared.close())

  test('a tokenizer counts each call exactly', async () => {
    const calls = Array.from({ length: 20 }, (_, index) => Array<string>(index).fill(text))

    const counts = await Promise.all(calls.map(texts => shared.countTokens(texts)))

    expect(counts).toEqual(calls.map(exactCount))
  })

  test('a tokenizer counts empty texts as 0', async () => {
    expect(await shared.countTokens([])).toBe(0)
    expect(await shared.countTokens(['', ''])).toBe(0)
  })

  test('a tokenizer extrapolates the count of a very long text from its start', async () => {
    const words = 'word '.repeat(CALL_CHARS_MAX / 5)

    const tokens = await shared.countTokens([words, words, words])

    expect(tokens).toBeWithin(exactCount([words]) * 3 - 10, exactCount([words]) * 3 + 10)
  })

  test('a tokenizer counts roughly when too much text is waiting', async () => {
    const tokenizer = open()
    const call = [text.repeat(Math.floor(CALL_CHARS_MAX / text.length))]
    const fitting = Math.floor(WAITING_CHARS_MAX / call[0]!.length)

    const waiting = Array.from({ length: fitting }, () => tokenizer.countTokens(call))

    expect(await tokenizer.countTokens(call)).toBe(roughCount(call))
    tokenizer.close()
    await Promise.all(waiting)
  })

  test('a tokenizer counts roughly after it was closed, including calls that were waiting', async () => {
    const tokenizer = open()
    const waiting = tokenizer.countTokens([text])

    tokenizer.close()

    expect(await waiting).toBe(roughCount([text]))
    expect(await tokenizer.countTokens([text])).toBe(roughCount([text]))
  })

  test('a tokenizer counts roughly when its worker does not answer in time, and exactly again after that', async () => {
    const clock = fakeClock()
    const tokenizer = openTokenizer(clock)
    opened.push(tokenizer)
    const waiting = tokenizer.countTokens([text])

    clock.advance(ANSWER_WITHIN_MS)

    expect(await waiting).toBe(roughCount([text]))
    expect(await tokenizer.countTokens([text])).toBe(exactCount([text]))
    expect(clock.waiting).toBe(0)
  })

  test('a tokenizer counts roughly when its worker cannot start', async () => {
    const tokenizer = open('file:///nowhere/worker.ts')

    for (let call = 0; call < 5; call += 1) {
      expect(await tokenizer.countTokens([text])).toBe(roughCount([text]))
    }
  })
})

test.each([
  ['', 0],
  ['abcd', 1],
  ['abcde', 2],
  ['你好', 2],
  ['a你', 2],
])('a rough count of %j is %d', (text, tokens) => {
  expect(roughCount([text])).toBe(tokens)
})
