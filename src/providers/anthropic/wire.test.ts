import { describe, expect, test } from 'bun:test'
import { anthropicHeaders, requestVersion, withCreditStatus } from './wire.ts'

test('a provider without a key is called without one', () => {
  expect(anthropicHeaders(undefined, {})).toEqual({ 'anthropic-version': '2023-06-01' })
  expect(anthropicHeaders('secret', {})).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'secret' })
})

test.each([
  ['authorization', { authorization: 'Bearer secret' }],
  ['api-key', { 'api-key': 'secret' }],
])('a row can name the header of its key: %s', (apiKeyHeader, sent) => {
  expect(anthropicHeaders('secret', { apiKeyHeader })).toEqual({ 'anthropic-version': '2023-06-01', ...sent })
})

describe('the betas of a request', () => {
  test.each([
    [null, undefined, undefined],
    ['', undefined, undefined],
    ['a', undefined, 'a'],
    [' a ,b,, a', undefined, 'a,b'],
    ['a b,c\u00e9,d', undefined, 'd'],
    ['a,b', ['b', 'c'], 'b'],
    ['a', ['b'], undefined],
    ['a', [], undefined],
  ])('%p with %p listed by the row are %p', (betas, allowed, sent) => {
    expect(requestVersion({ version: null, betas }, allowed)).toEqual(
      sent === undefined ? {} : { betas: sent },
    )
  })

  test('the betas of a request are at most 64', () => {
    const betas = Array.from({ length: 100 }, (_, index) => `b${index}`).join(',')

    expect(requestVersion({ version: null, betas }, undefined).betas?.split(',')).toHaveLength(64)
  })
})

test.each([
  ['2023-06-01', { version: '2023-06-01' }],
  [null, {}],
  ['two words', {}],
  ['x'.repeat(65), {}],
])('the version %p of a client is sent as %p', (version, sent) => {
  expect(requestVersion({ version, betas: null }, undefined)).toEqual(sent)
})

describe('a refusal because the operator has no credit', () => {
  const answered = (status: number, message: string) =>
    withCreditStatus({
      outcome: 'answered',
      status,
      reportedCost: null,
      body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
    })
  const NO_CREDIT = 'Your credit balance is too low to access the Anthropic API.'

  test.each([
    [400, NO_CREDIT, 402],
    [400, `messages.0: "${NO_CREDIT}" is not a role`, 400],
    [400, 'max_tokens: Field required', 400],
    [500, NO_CREDIT, 500],
  ])(
    'a refusal because the operator has no credit with status %p and %p is read as %p',
    (status, message, read) => {
      expect(answered(status, message)).toMatchObject({ status: read })
    },
  )
})
