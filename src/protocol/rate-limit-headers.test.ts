import { expect, test } from 'bun:test'
import {
  addAnthropicRateLimits,
  addOpenAiRateLimits,
  formatInstant,
  formatReset,
} from './rate-limit-headers.ts'

test.each([
  [0, '0ms'],
  [20, '20ms'],
  [1000, '1s'],
  [1500, '1.5s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
  [3_661_500, '1h1m1.5s'],
])('a reset in %i ms is written as %s', (ms, text) => {
  expect(formatReset(ms)).toBe(text)
})

test('an instant is written in whole seconds and never too early', () => {
  expect(formatInstant(Date.parse('2026-11-23T07:00:00.001Z'))).toBe('2026-11-23T07:00:01Z')
  expect(formatInstant(Date.parse('2026-11-23T07:00:01Z'))).toBe('2026-11-23T07:00:01Z')
})

const rates = { requests: { limit: 60, remaining: 59, resetMs: 1000 } }

test('clients of OpenAI read the limit, the rest and the time to a full bucket', () => {
  const headers = {}

  addOpenAiRateLimits(headers, { ...rates, tokens: { limit: 1000, remaining: 0, resetMs: 60_000 } })

  expect(headers).toEqual({
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1s',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '1m0s',
  })
})

test('clients of Anthropic read the instant of a full bucket', () => {
  const headers = {}

  addAnthropicRateLimits(headers, rates, Date.parse('2026-11-23T07:00:00Z'))

  expect(headers).toEqual({
    'anthropic-ratelimit-requests-limit': '60',
    'anthropic-ratelimit-requests-remaining': '59',
    'anthropic-ratelimit-requests-reset': '2026-11-23T07:00:01Z',
  })
})
