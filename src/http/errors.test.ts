import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { errorTypeOf, GatewayError, type ErrorCode } from '../domain/errors.ts'
import { errorBody, errorHeaders, statusOfError } from './errors.ts'

const docs = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')
const documented = docs
  .split('\n')
  .filter(line => /^\| \d{3} /.test(line))
  .map(line => line.split('|').slice(1, 4).join('').replaceAll('`', '').trim().split(/ +/))

test('docs/api.md has every code, with its status and its type, and no other', () => {
  const codes = Object.keys(errorTypeOf) as ErrorCode[]

  expect(documented.toSorted(byCode)).toEqual(
    codes.map(code => [String(statusOfError(code)), errorTypeOf[code], code]).toSorted(byCode),
  )
})

const byCode = ([, , left = '']: string[], [, , right = '']: string[]) => left.localeCompare(right)

describe('the envelope', () => {
  test('of a plain error has its message, type and code', () => {
    const error = new GatewayError('not_found', 'It is gone.')

    expect(errorBody(error)).toEqual({
      error: { message: 'It is gone.', type: 'not_found_error', code: 'not_found' },
    })
    expect(errorHeaders(error)).toEqual({ 'content-type': 'application/json' })
  })

  test('names the field that is wrong, and has beside it what more there is to say', () => {
    const error = new GatewayError('invalid_field', 'No.', { param: 'n', beside: { held_usd: '0' } })

    expect(errorBody(error)).toEqual({
      error: { message: 'No.', type: 'invalid_request_error', code: 'invalid_field', param: 'n' },
      held_usd: '0',
    })
  })

  test('comes with when to repeat, whether to, and which methods there are', () => {
    const extras = { retryAfterS: '7', shouldRetry: false, allow: 'GET' }

    expect(errorHeaders(new GatewayError('rate_limited', 'No.', extras))).toEqual({
      'content-type': 'application/json',
      'retry-after': '7',
      'x-should-retry': 'false',
      allow: 'GET',
    })
  })
})
