import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { GatewayError } from '../../domain/errors.ts'
import { findJsonObject, parseJsonObject } from './parse-json.ts'

function refusalOf(text: string): string {
  try {
    parseJsonObject(sentText(text))
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_json') return error.message
    throw error
  }
  throw new Error('The body was accepted.')
}

describe('a request body that is not a JSON object is rejected with the reason', () => {
  test.each([
    ['', 'it is empty'],
    ['[]', 'it is an array, not a JSON object'],
    ['null', 'it is null, not a JSON object'],
    ['"{}"', 'it is a string'],
    ['{"a":', 'Unexpected EOF'],
    ['{"a":1,}', 'Property name must be a string literal'],
    ["{'a':1}", 'Single quotes'],
    ['{"a":1}{', 'Unable to parse'],
    ['{"a":NaN}', 'NaN'],
    ['{"a":01}', "Expected '}'"],
    ['{"a":"\t"}', 'Unterminated string'],
  ])('a request body that is not a JSON object is rejected with the reason: %p', (text, reason) => {
    expect(refusalOf(text)).toContain(reason)
  })

  test('ten thousand letters, in a short message', () => {
    const refusal = refusalOf('x'.repeat(10_000))

    expect(refusal).toContain('Unexpected identifier "xxx')
    expect(refusal.length).toBeLessThan(200)
  })
})

test('nesting of any depth is either read or rejected as invalid JSON', () => {
  const depth = 1_000_000
  const body = sentText(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)

  let outcome = 'read'
  try {
    parseJsonObject(body)
  } catch (error) {
    outcome = error instanceof GatewayError ? error.code : 'crashed'
  }

  expect(['read', 'invalid_json']).toContain(outcome)
})

test.each([
  ['{"a":"plain"}', true],
  ['{"a":"é"}', false],
  ['{"é":1}', false],
  ['{"a":"\\u00e9"}', false],
])('%p is all ASCII: %p', (text, isAscii) => {
  expect(parseJsonObject(sentText(text)).isAscii).toBe(isAscii)
})

test('an upstream text that is not a JSON object is undefined, never an error', () => {
  expect(findJsonObject('<html>')).toBeUndefined()
  expect(findJsonObject('[1]')).toBeUndefined()
  expect(findJsonObject('\uFFFD')).toBeUndefined()
  expect(findJsonObject(' {"a":1} ')).toEqual({ a: 1 })
})
