import { expect, test } from 'bun:test'
import type { LimitRefusal } from '../../domain/limits/admission.ts'
import type { Scope } from '../../domain/limits/scope.ts'
import { usd, ZERO } from '../../domain/money.ts'
import { limitError } from './refuse-limits.ts'

const KEY: Scope = { kind: 'key', id: 1, model: '' }
const asked = { amount: usd('1') }

const budget = {
  scope: KEY,
  limit: 'budget',
  period: 'month',
  allowed: usd('20'),
  spent: usd('19'),
  reserved: usd('0.5'),
  remaining: usd('0.5'),
  affordable: usd('0.25'),
  isReserved: false,
  resetsAtMs: Date.parse('2026-12-01'),
} as const satisfies LimitRefusal

test.each([
  [{ kind: 'account', id: 1, model: '' }, 'This account may'],
  [{ kind: 'project', id: 1, model: '' }, 'The project of this API key may'],
  [{ kind: 'account_model', id: 1, model: 'gpt-x' }, 'This account with the model "gpt-x" may'],
  [KEY, 'This API key may'],
  [{ kind: 'key_model', id: 1, model: 'gpt-x' }, 'This API key with the model "gpt-x" may'],
] as const)('the scope %p is named in words', (scope, words) => {
  const error = limitError({ scope, limit: 'concurrent_requests', allowed: 5 }, asked)

  expect(error.message).toStartWith(words)
})

test.each([
  [1, '1', true],
  [1001, '2', true],
  [60_000, '60', true],
  [60_001, '61', false],
])(
  'a wait of %i ms is named as %s s, rounded up, and a client may wait for it at most a minute',
  (waitMs, s, may) => {
    const { code, message, extras } = limitError(
      { scope: KEY, limit: 'requests_per_minute', allowed: 60, waitMs },
      asked,
    )

    expect(code).toBe('requests_per_minute')
    expect(message).toEndWith(`Retry in ${s} s.`)
    expect(extras).toEqual({ retryAfter: s, shouldRetry: may })
  },
)

test.each([
  [{ limit: 'requests_per_minute', allowed: 1, waitMs: 500 }, 'This API key may send 1 request a minute.'],
  [{ limit: 'concurrent_requests', allowed: 1 }, 'This API key may have 1 open request or job.'],
  [{ limit: 'concurrent_requests', allowed: 2 }, 'This API key may have 2 open requests and jobs.'],
] as const)('the limit %j is written in the singular or the plural', (refusal, words) => {
  expect(limitError({ scope: KEY, ...refusal }, asked).message).toStartWith(words)
})

test('a request with more tokens than a minute allows must not be repeated', () => {
  const { message, extras } = limitError(
    { scope: KEY, limit: 'tokens_per_minute', allowed: 1000, asked: 4200, waitMs: undefined },
    asked,
  )

  expect(message).toBe(
    'This API key may use 1000 tokens a minute, and this request can use 4200. Send a smaller request.',
  )
  expect(extras).toEqual({ shouldRetry: false })
})

test('a budget that a request cannot fit says what is left, when it resets and what would fit', () => {
  const { code, type, message, extras } = limitError(budget, {
    ...asked,
    ceiling: { field: 'max_tokens', affordable: left => Number(left / 1_000_000n) },
  })

  expect([type, code]).toEqual(['insufficient_balance', 'budget_exceeded'])
  expect(message).toBe(
    'This API key has a budget of 20 USD a month, of which 0.5 USD is left. This request can cost up to 1 USD. Set `max_tokens` to 250 or less. The budget resets at 2026-12-01T00:00:00Z.',
  )
  expect(extras.extensions).toEqual({
    required_usd: '1',
    remaining_usd: '0.5',
    resets_at: '2026-12-01T00:00:00Z',
    max_affordable_output_tokens: 250,
  })
})

test('a total budget never resets, and a job has no output ceiling', () => {
  const refusal = { ...budget, period: 'total', remaining: ZERO, resetsAtMs: undefined } as const

  const { message, extras } = limitError(refusal, asked)

  expect(message).toBe(
    'This API key has a total budget of 20 USD, of which 0 USD is left. This request can cost up to 1 USD.',
  )
  expect(extras.extensions).toEqual({ required_usd: '1', remaining_usd: '0' })
})

test('a budget that running requests reserve may be tried again soon', () => {
  const { code, type, extras } = limitError({ ...budget, isReserved: true }, asked)

  expect([type, code]).toEqual(['rate_limit_error', 'budget_reserved'])
  expect(extras).toMatchObject({ retryAfter: '2', shouldRetry: true })
})

test.each([
  ['fits', 97, 'Retry when they have ended, or set `max_tokens` to 97 or less.'],
  ['does not fit', undefined, 'Retry when they have ended.'],
])('a reserved budget into which a shorter answer %s says what helps', (_, fitting, words) => {
  const ceiling = { field: 'max_tokens', affordable: () => fitting }

  const { message } = limitError({ ...budget, isReserved: true }, { ...asked, ceiling })

  expect(message).toEndWith(`Running requests reserve what it needs. ${words}`)
})
