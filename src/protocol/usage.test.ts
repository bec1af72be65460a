import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatUsd, usd } from '../domain/money.ts'
import { chargeForTokens } from '../domain/pricing/charge.ts'
import { parseExactUsd, roundUpToNanoUsd } from '../domain/pricing/exact-usd.ts'
import type { TextTariff } from '../domain/pricing/tariff.ts'
import { NO_USAGE, inputTokens, outputTokens, type Usage } from '../domain/pricing/usage.ts'
import { COMPACTIONS_MAX, TOKENS_MAX, findReportedCost, readUsage, type CostField } from './usage.ts'

const LIMITS = { inputTokensMax: 100_000, outputTokensMax: 10_000 }

/** Only the buckets that are not zero. */
function bucketsOf(usage: unknown): Partial<Usage> | null {
  const reported = readUsage(usage, LIMITS)
  return reported && Object.fromEntries(Object.entries(reported.usage).filter(([, tokens]) => tokens !== 0))
}

const isClamped = (usage: unknown) => readUsage(usage, LIMITS)?.isClamped

const costOf = (usage: unknown, tariff: TextTariff) =>
  formatUsd(chargeForTokens(readUsage(usage, LIMITS)?.usage ?? NO_USAGE, tariff))

test('tokens cached for an hour have a separate bucket, beside those cached for five minutes', () => {
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
    cache_read_input_tokens: 0,
    output_tokens: 5,
  }

  expect(bucketsOf(usage)).toEqual({ input: 3, cacheWrite: 400, cacheWrite1h: 600, output: 5 })
  expect(isClamped(usage)).toBe(false)
})

test('more tokens cached for an hour than were cached at all are an impossible count', () => {
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 10,
    cache_creation: { ephemeral_1h_input_tokens: 11 },
    output_tokens: 5,
  }

  expect(bucketsOf(usage)).toEqual({ input: 3, cacheWrite1h: 10, output: 5 })
  expect(isClamped(usage)).toBe(true)
})

test('the uses of all server tools count, except searches in the list of tools', () => {
  const tools = { web_search_requests: 2, web_fetch_requests: 1, tool_search_requests: 7 }

  expect(bucketsOf({ input_tokens: 1, output_tokens: 1, server_tool_use: tools })).toMatchObject({
    serverToolUses: 3,
  })
})

test('more uses of server tools than the request allows are clamped', () => {
  const usage = { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 9 } }

  const reported = readUsage(usage, { ...LIMITS, serverToolUsesMax: 3 })

  expect(reported).toMatchObject({ usage: { serverToolUses: 3 }, isClamped: true })
})

test('compactions are added to the usage, and other iterations are not', () => {
  const iterations = [
    { type: 'compaction', input_tokens: 180, output_tokens: 35, cache_read_input_tokens: 20 },
    { type: 'message', input_tokens: 10, output_tokens: 5 },
    { type: 'advisor_message', model: 'claude-large', input_tokens: 800, output_tokens: 90 },
    { type: 'fallback_message', model: 'claude-small', input_tokens: 70, output_tokens: 7 },
  ]

  expect(bucketsOf({ input_tokens: 10, output_tokens: 5, iterations })).toEqual({
    input: 190,
    cachedInput: 20,
    output: 40,
  })
})

test('500 random lists of iterations add up to the clamped tokens of each compaction', () => {
  const LIMIT = { inputTokensMax: 1000, outputTokensMax: 100 }
  const count = fc.oneof(fc.nat(600), fc.nat(3000), fc.constantFrom(-1, 0.5, 1e300))
  const iteration = fc.record({
    type: fc.constantFrom('compaction', 'message', 'advisor_message', 'fallback_message'),
    input_tokens: count,
    output_tokens: count,
  })
  const possible = (value: number, max: number) =>
    value > max ? max : value < 0 || value % 1 !== 0 ? 0 : value
  fc.assert(
    fc.property(iteration, fc.array(iteration, { maxLength: 6 }), (own, iterations) => {
      const counted = [own, ...iterations.filter(({ type }) => type === 'compaction')]
      let input = 0
      let output = 0
      let clamped = false
      for (const part of counted) {
        input += possible(part.input_tokens, 1000)
        output += possible(part.output_tokens, 100)
        clamped ||= possible(part.input_tokens, 1000) !== part.input_tokens
        clamped ||= possible(part.output_tokens, 100) !== part.output_tokens
      }

      const reported = readUsage({ ...own, iterations }, LIMIT)

      expect(reported).toEqual({ usage: { ...NO_USAGE, input, output }, isClamped: clamped })
    }),
    { numRuns: 500 },
  )
})

test('a list of more compactions than an answer can have is clamped', () => {
  const iterations = Array.from({ length: COMPACTIONS_MAX + 1 }, () => ({
    type: 'compaction',
    input_tokens: 1,
    output_tokens: 1,
  }))

  const reported = readUsage({ input_tokens: 0, output_tokens: 0, iterations }, LIMITS)

  expect(reported).toEqual({
    usage: { ...NO_USAGE, input: COMPACTIONS_MAX, output: COMPACTIONS_MAX },
    isClamped: true,
  })
})

test('thinking tokens inside the output are the reasoning bucket', () => {
  const usage = { input_tokens: 1, output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } }

  expect(bucketsOf(usage)).toEqual({ input: 1, output: 20, reasoning: 30 })
})

describe('no token is charged twice, with the numbers of real bills', () => {
  test('a cache write beside input_tokens costs 0.05439, not 0.0913', () => {
    const tariff = { input: usd('3'), cacheWrite: usd('3.75'), cachedInput: usd('0.3'), output: usd('15') }
    const counts = { cache_creation_input_tokens: 12_304, cache_read_input_tokens: 0 }

    const anthropic = costOf({ input_tokens: 3, output_tokens: 550, ...counts }, tariff)
    const relayed = costOf({ prompt_tokens: 3, completion_tokens: 550, total_tokens: 553, ...counts }, tariff)

    expect(anthropic).toBe('0.054399')
    expect(relayed).toBe('0.054399')
  })

  test('a cached image is charged once, as cached: 0.0319, not 0.0649', () => {
    const usage = {
      prompt_tokens: 24_643,
      completion_tokens: 3_110,
      total_tokens: 27_753,
      prompt_tokens_details: { cached_tokens: 24_503, image_tokens: 22_000 },
    }

    expect(costOf(usage, { input: usd('1.5'), cachedInput: usd('0.15'), output: usd('9') })).toBe(
      '0.03187545',
    )
  })

  test('three disjoint input counts are three buckets: 0.14369, not 0.21923', () => {
    const usage = {
      input_tokens: 13_646,
      cache_creation_input_tokens: 10_769,
      cache_read_input_tokens: 15_108,
      output_tokens: 24,
    }

    expect(
      costOf(usage, { input: usd('5'), cachedInput: usd('0.5'), cacheWrite: usd('6.25'), output: usd('25') }),
    ).toBe('0.14369025')
  })

  test('a cache and reasoning that are both beside their counts, as the total shows, are charged too', () => {
    const usage = {
      prompt_tokens: 4_142,
      completion_tokens: 254,
      total_tokens: 9_724,
      prompt_tokens_details: { cached_tokens: 4_328 },
      completion_tokens_details: { reasoning_tokens: 1_000 },
    }

    expect(bucketsOf(usage)).toEqual({ input: 4_142, cachedInput: 4_328, output: 254, reasoning: 1_000 })
    expect(isClamped(usage)).toBe(false)
  })

  test('reasoning beside the completion, as the total shows, is charged too', () => {
    const usage = {
      prompt_tokens: 10_120,
      completion_tokens: 1_499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
    }

    expect(costOf(usage, { input: usd('1.25'), cachedInput: usd('0.2'), output: usd('2.5') })).toBe(
      '0.0232856',
    )
  })
})

describe('details are subtracted from their totals', () => {
  test.each<[string, object, Partial<Usage>]>([
    ['plain', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, { input: 10, output: 5 }],
    [
      'every detail of chat',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20, audio_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 5 },
      },
      {
        input: 30,
        cachedInput: 40,
        cacheWrite: 20,
        audioInput: 10,
        output: 15,
        reasoning: 30,
        audioOutput: 5,
      },
    ],
    [
      'responses',
      {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 150,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens_details: { reasoning_tokens: 30 },
      },
      { input: 60, cachedInput: 40, output: 20, reasoning: 30 },
    ],
    ['embeddings', { prompt_tokens: 8, total_tokens: 8 }, { input: 8 }],
    ['embeddings with only a total', { total_tokens: 8 }, { input: 8 }],
    [
      'cached audio, which counts once as cached',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 90, audio_tokens: 60 },
      },
      { cachedInput: 90, audioInput: 10, output: 1 },
    ],
    [
      'cache hits and misses',
      { prompt_tokens: 100, completion_tokens: 1, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
      { input: 40, cachedInput: 60, output: 1 },
    ],
  ])('details are subtracted from their totals: %s', (_, usage, expected) => {
    expect(bucketsOf(usage)).toEqual(expected)
    expect(isClamped(usage)).toBe(false)
  })
})

describe('cache counts under both names mean the same tokens', () => {
  test.each<[string, object, Partial<Usage>]>([
    [
      'inside the prompt, as the details show',
      {
        prompt_tokens: 98_805,
        completion_tokens: 5_120,
        total_tokens: 103_925,
        prompt_tokens_details: { cached_tokens: 66_360, cache_creation_tokens: 32_435 },
        cache_read_input_tokens: 66_360,
        cache_creation_input_tokens: 32_435,
      },
      { input: 10, cachedInput: 66_360, cacheWrite: 32_435, output: 5_120 },
    ],
    [
      'inside the prompt, as the total shows',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cache_read_input_tokens: 40 },
      { input: 60, cachedInput: 40, output: 10 },
    ],
    [
      'beside the prompt, as the total shows',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 150, cache_read_input_tokens: 40 },
      { input: 100, cachedInput: 40, output: 10 },
    ],
    [
      'beside a prompt that is smaller',
      { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40, cache_read_input_tokens: 40 },
      { input: 30, cachedInput: 40, output: 10 },
    ],
    [
      'beside a prompt that is smaller, under OpenAI’s name, regardless of the total',
      {
        prompt_tokens: 37,
        completion_tokens: 10,
        total_tokens: 47,
        prompt_tokens_details: { cached_tokens: 151 },
      },
      { input: 37, cachedInput: 151, output: 10 },
    ],
    [
      'beside input_tokens with any total',
      { input_tokens: 100, output_tokens: 10, total_tokens: 110, cache_read_input_tokens: 40 },
      { input: 100, cachedInput: 40, output: 10 },
    ],
  ])('cache counts under both names mean the same tokens %s', (_, usage, expected) => {
    expect(bucketsOf(usage)).toEqual(expected)
    expect(isClamped(usage)).toBe(false)
  })
})

describe('an impossible count is clamped and flagged', () => {
  test.each<[string, object, Partial<Usage>]>([
    ['negative', { prompt_tokens: -5, completion_tokens: 3 }, { output: 3 }],
    ['fractional', { prompt_tokens: 5, completion_tokens: 2.5 }, { input: 5 }],
    ['a string', { prompt_tokens: '500', completion_tokens: 3 }, { output: 3 }],
    ['a boolean', { prompt_tokens: true, completion_tokens: 3 }, { output: 3 }],
    ['too much input', { prompt_tokens: 1e9, completion_tokens: 3 }, { input: 100_000, output: 3 }],
    ['too much output', { prompt_tokens: 5, completion_tokens: 10_001 }, { input: 5, output: 10_000 }],
    ['infinite output', { prompt_tokens: 5, completion_tokens: Infinity }, { input: 5, output: 10_000 }],
    [
      'more reasoning tokens than output',
      { prompt_tokens: 5, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 9 } },
      { input: 5, reasoning: 1 },
    ],
    [
      'a negative detail',
      { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: -9 } },
      { input: 5, output: 1 },
    ],
    [
      'a cache beside the input, together above the context window',
      { input_tokens: 90_000, output_tokens: 1, cache_read_input_tokens: 90_000 },
      { input: 90_000, cachedInput: 10_000, output: 1 },
    ],
    [
      'a cache that is read and written beside the input, together above the context window',
      {
        input_tokens: 90_000,
        output_tokens: 1,
        cache_read_input_tokens: 6_000,
        cache_creation_input_tokens: 9_000,
      },
      { input: 90_000, cachedInput: 6_000, cacheWrite: 4_000, output: 1 },
    ],
    [
      'reasoning beside the completion, together above the ceiling',
      {
        prompt_tokens: 1,
        completion_tokens: 9_000,
        total_tokens: 18_001,
        completion_tokens_details: { reasoning_tokens: 9_000 },
      },
      { input: 1, output: 9_000, reasoning: 1_000 },
    ],
  ])('an impossible count is clamped and flagged: %s', (_, usage, expected) => {
    expect(bucketsOf(usage)).toEqual(expected)
    expect(isClamped(usage)).toBe(true)
  })

  test('a count without a known maximum still has a limit', () => {
    const reported = readUsage(
      { prompt_tokens: 1e300, completion_tokens: 1e300 },
      { inputTokensMax: undefined, outputTokensMax: undefined },
    )

    expect(reported?.isClamped).toBe(true)
    expect(inputTokens(reported!.usage)).toBe(TOKENS_MAX)
    expect(outputTokens(reported!.usage)).toBe(TOKENS_MAX)
  })
})

test('explicit zeros are a usage and stay zero', () => {
  expect(readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, LIMITS)).toEqual({
    usage: NO_USAGE,
    isClamped: false,
  })
})

test.each([
  [undefined],
  [null],
  ['none'],
  [7],
  [[]],
  [{}],
  [{ cost: 0.1 }],
  [{ prompt_tokens: null, completion_tokens: null }],
])('%j is not a usage', usage => {
  expect(readUsage(usage, LIMITS)).toBeNull()
})

describe('thinking that only the total counts', () => {
  const gemini = { ...LIMITS, hidesThinking: true }
  const counts = { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1_994 }
  const prices = { input: usd('2.5'), output: usd('10') }

  test('thinking that only the total counts is reasoning, for a provider that reports like Gemini: 0.0198725, not 0.0066625', () => {
    const reported = readUsage(counts, gemini)

    expect(reported).toEqual({
      usage: { ...NO_USAGE, input: 9, output: 664, reasoning: 1_321 },
      isClamped: false,
    })
    expect(formatUsd(chargeForTokens(reported!.usage, prices))).toBe('0.0198725')
    expect(costOf(counts, prices)).toBe('0.0066625')
  })

  test.each<[string, object, Partial<Usage>]>([
    [
      'is not added to reported reasoning',
      { ...counts, completion_tokens_details: { reasoning_tokens: 100 } },
      { input: 9, output: 564, reasoning: 100 },
    ],
    [
      'is not added to a reported reasoning of zero',
      { ...counts, completion_tokens_details: { reasoning_tokens: 0 } },
      { input: 9, output: 664 },
    ],
    ['is none without a total', { prompt_tokens: 9, completion_tokens: 664 }, { input: 9, output: 664 }],
    ['is none if the total is smaller', { ...counts, total_tokens: 500 }, { input: 9, output: 664 }],
    ['is none if the total is a text', { ...counts, total_tokens: '1994' }, { input: 9, output: 664 }],
    [
      'leaves the cache inside the prompt',
      { ...counts, prompt_tokens_details: { cached_tokens: 5 } },
      { input: 4, cachedInput: 5, output: 664, reasoning: 1_321 },
    ],
    [
      'does not include a cache beside the prompt',
      { ...counts, prompt_tokens_details: { cached_tokens: 30 } },
      { input: 9, cachedInput: 30, output: 664, reasoning: 1_291 },
    ],
    [
      'is all of the output if there is no other',
      { prompt_tokens: 9, completion_tokens: 0, total_tokens: 30 },
      { input: 9, reasoning: 21 },
    ],
    ['is none in the usage of embeddings', { prompt_tokens: 9, total_tokens: 9 }, { input: 9 }],
  ])('thinking that only the total counts %s', (_, usage, expected) => {
    const reported = readUsage(usage, gemini)

    expect(reported).toEqual({ usage: { ...NO_USAGE, ...expected }, isClamped: false })
  })

  test('thinking that only the total counts is clamped to the output ceiling of the request', () => {
    expect(readUsage(counts, { ...gemini, outputTokensMax: 1_000 })).toEqual({
      usage: { ...NO_USAGE, input: 9, output: 664, reasoning: 336 },
      isClamped: true,
    })
  })
})

const costIn = (text: string, field?: CostField) =>
  findReportedCost((JSON.parse(text) as { usage?: unknown }).usage, () => text, field)

test.each([
  ['{"usage":{"cost":0.1}}', '0.1'],
  ['{"usage":{"cost":0.123456789012345678901}}', '0.123456789012345678901'],
  ['{"usage":{"cost":1e-7,"n":1}}', '1e-7'],
  ['{"usage":{"cost":"0.25"}}', '0.25'],
  ['{"usage":{"cost":1},"usage":{"cost":2,"co\\u0073t":3}}', '3'],
])('the digits of %s are read exactly', (text, cost) => {
  expect(costIn(text)).toEqual(parseExactUsd(cost)!)
})

test.each([
  '{}',
  '{"usage":null}',
  '{"usage":[1]}',
  '{"usage":{}}',
  '{"usage":{"cost":null}}',
  '{"usage":{"cost":{"total":1}}}',
  '{"usage":{"cost":1e400}}',
  '{"cost":1,"usage":{"prompt_tokens":1}}',
])('%s has no cost', text => {
  expect(costIn(text)).toBeNull()
})

describe('a cost as OpenRouter reports it', () => {
  const byok = (usage: object) => JSON.stringify({ usage: { is_byok: true, ...usage } })

  test.each([
    [
      'has the cost of the provider behind it, if the request used the customer’s own key',
      '{"usage":{"cost":0.000012500000000001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.00025}}}',
      '0.000262500000000001',
    ],
    [
      'does not have it twice, if the request used OpenRouter’s key',
      '{"usage":{"cost":0.00025,"is_byok":false,"cost_details":{"upstream_inference_cost":0.00025}}}',
      '0.00025',
    ],
    [
      'is the fee alone if the other cost is missing',
      byok({ cost: 0.5, cost_details: { upstream_inference_cost: null } }),
      '0.5',
    ],
    [
      'is the other cost alone if the fee is missing',
      byok({ cost_details: { upstream_inference_cost: 0.5 } }),
      '0.5',
    ],
    ['needs the word true, not a text', '{"usage":{"cost":1,"is_byok":"true","cost_details":{}}}', '1'],
  ])('a cost as OpenRouter reports it %s', (_, text, cost) => {
    expect(roundUpToNanoUsd(costIn(text)!)).toBe(roundUpToNanoUsd(parseExactUsd(cost)!))
  })
})

describe('a cost in the field that the row of the provider names', () => {
  const ticks: CostField = { path: ['cost_in_usd_ticks'], unitDecimals: 10 }
  const total: CostField = { path: ['cost', 'total_cost'], unitDecimals: 0 }
  const estimated: CostField = { path: ['estimated_cost'], unitDecimals: 0 }

  test.each([
    ['ticks, as xAI reports it', '{"usage":{"cost_in_usd_ticks":37756001}}', ticks, '0.0037756001'],
    ['DeepInfra’s estimate', '{"usage":{"estimated_cost":1.2345678901e-7}}', estimated, '1.2345678901e-7'],
    [
      'Perplexity’s total',
      '{"cost":1,"usage":{"total_cost":2,"cost":{"input_tokens_cost":3,"total_cost":0.00512}}}',
      total,
      '0.00512',
    ],
    ['a text', '{"usage":{"estimated_cost":"0.5"}}', estimated, '0.5'],
    [
      'the last member of a name',
      '{"usage":{"cost":{"total_cost":1},"cost":{"total_cost":1,"total_cost":2}}}',
      total,
      '2',
    ],
  ])('a cost in the field that the row of the provider names is read exactly: %s', (_, text, field, cost) => {
    expect(costIn(text, field)).toEqual(parseExactUsd(cost)!)
  })

  test.each([
    ['is missing, although there is a cost in another field', '{"usage":{"cost":1}}', ticks],
    ['is not a number', '{"usage":{"cost":{"total_cost":{}}}}', total],
    ['has another value in its path', '{"usage":{"cost":5}}', total],
    ['has a list in its path', '{"usage":{"cost":[1]}}', { path: ['cost', '0'], unitDecimals: 0 }],
  ])('a cost in the field that the row of the provider names is not reported if it %s', (_, text, field) => {
    expect(costIn(text, field)).toBeNull()
  })

  test('a cost in the field that the row of the provider names is not added to the cost behind OpenRouter', () => {
    const text = '{"usage":{"is_byok":true,"cost_details":{"upstream_inference_cost":1},"estimated_cost":2}}'

    expect(costIn(text, estimated)).toEqual(parseExactUsd('2')!)
  })
})
