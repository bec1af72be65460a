import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { errorTypeOf, GatewayError, type ErrorCode } from '../domain/errors.ts'
import { HttpError, type HttpErrorCode } from '../http1/server/http-error.ts'
import { BlobsUnavailableError } from '../gateway/ports/media/blobs.ts'
import { errorBody, errorHeaders, gatewayErrorOf, statusOfError } from './errors.ts'

const docs = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')
const documented = docs
  .split('\n')
  .filter(line => /^\| \d{3} /.test(line))
  .map(line => line.split('|').slice(1, 4).join('').replaceAll('`', '').trim().split(/ +/))

test('docs/api.md has every code with its status and type, and no other code', () => {
  const codes = Object.keys(errorTypeOf) as ErrorCode[]

  expect(documented.toSorted(byCode)).toEqual(
    codes.map(code => [String(statusOfError(code)), errorTypeOf[code], code]).toSorted(byCode),
  )
})

const byCode = ([, , left = '']: string[], [, , right = '']: string[]) => left.localeCompare(right)

describe('an error reply', () => {
  test('an error reply has the message, type and code', () => {
    const error = new GatewayError('not_found', 'It is gone.')

    expect(errorBody(error)).toEqual({
      error: { message: 'It is gone.', type: 'not_found_error', code: 'not_found', param: null },
    })
    expect(errorHeaders(error)).toEqual({ 'content-type': 'application/json' })
  })

  test('an error reply has the wrong field, and further members beside the error', () => {
    const error = new GatewayError('invalid_field', 'No.', { param: 'n', extensions: { held_usd: '0' } })

    expect(errorBody(error)).toEqual({
      error: { message: 'No.', type: 'invalid_request_error', code: 'invalid_field', param: 'n' },
      held_usd: '0',
    })
  })

  test('an error reply has headers for when to retry, whether to retry, and the allowed methods', () => {
    const extras = { retryAfter: '7', shouldRetry: false, allow: 'GET' }

    expect(errorHeaders(new GatewayError('rate_limited', 'No.', extras))).toEqual({
      'content-type': 'application/json',
      'retry-after': '7',
      'x-should-retry': 'false',
      allow: 'GET',
    })
  })
})

describe('an error of the HTTP server', () => {
  test.each<[HttpErrorCode, ErrorCode]>([
    ['malformed_request', 'malformed_request'],
    ['headers_too_large', 'headers_too_large'],
    ['headers_timeout', 'headers_timeout'],
    ['body_timeout', 'body_timeout'],
    ['too_many_connections', 'unavailable'],
  ])('%s becomes %s with the same message', (httpCode, code) => {
    expect(gatewayErrorOf(new HttpError(httpCode, 'No.'))).toMatchObject({ code, message: 'No.' })
  })

  test('the error for text that is not UTF-8 says that the JSON is invalid', () => {
    expect(gatewayErrorOf(new HttpError('body_not_utf8', 'It is not UTF-8.'))).toMatchObject({
      code: 'invalid_json',
      message: 'Invalid JSON: It is not UTF-8.',
    })
  })

  test('the error for a body that is too large says whose limit it is', () => {
    expect(gatewayErrorOf(new HttpError('body_too_large', 'The limit is 1 MB.'))).toMatchObject({
      code: 'request_too_large',
      message: 'The limit is 1 MB. The gateway refused it, and called no provider.',
    })
  })

  test.each<[HttpErrorCode]>([['client_disconnected'], ['body_discarded']])('%s is not a refusal', code => {
    expect(gatewayErrorOf(new HttpError(code, 'No.'))).toBeUndefined()
  })

  test('results that are out of reach are 503 with a time to retry, and the log gets the reason', () => {
    const cause = new BlobsUnavailableError('The storage of s3://results is down.')

    const error = gatewayErrorOf(cause)!

    expect(statusOfError(error.code)).toBe(503)
    expect(error.extras).toEqual({ retryAfter: '10', cause })
    expect(error.message).not.toContain('s3')
  })

  test('the error for too many connections says when to retry', () => {
    expect(gatewayErrorOf(new HttpError('too_many_connections', 'No.'))?.extras.retryAfter).toBe('1')
  })
})
