import { describe, expect, test } from 'bun:test'
import { readUpstreamError } from './upstream-error.ts'

const SECRETS = { baseUrls: ['https://api.upstream.example/v1'], keys: ['the-secret-key'] }
const UNSAID = 'The provider of the model rejected the request without giving a reason.'

const read = (body: unknown, contentType = 'application/json') =>
  readUpstreamError(typeof body === 'string' ? body : JSON.stringify(body), contentType, SECRETS)

describe('an envelope of the same shape is kept', () => {
  test.each([
    [
      {
        error: {
          message: 'Too long',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length',
        },
      },
      { message: 'Too long', type: 'invalid_request_error', param: 'messages', code: 'context_length' },
    ],
    [
      { error: { message: 'No', type: 'image_error', param: null, code: null } },
      { message: 'No', type: 'image_error', param: null },
    ],
    [
      { type: 'error', error: { type: 'overloaded', message: 'Busy' } },
      { message: 'Busy', type: 'overloaded', param: null },
    ],
  ])('an envelope of the same shape is kept: %j', (body, expected) => {
    expect(read(body)).toEqual(expected)
  })
})

describe('any other shape is converted', () => {
  test.each([
    [{ detail: 'Not that' }, 'Not that'],
    [
      {
        detail: [
          { loc: ['body', 'messages', 0, 'role'], msg: 'field required', type: 'missing' },
          { loc: ['body'], msg: 'extra fields' },
        ],
      },
      'messages.0.role: field required; extra fields',
    ],
    [{ detail: { error_code: 'X1', error_message: 'Bad size' } }, 'Bad size'],
    [{ message: 'Flat', type: 'BadRequestError', code: 400 }, 'Flat'],
    [{ error: 'Only a text' }, 'Only a text'],
    [{ errors: ['one', { message: 'two' }, 3] }, 'one; two'],
    [{ error: { code: 400, message: 'Google', status: 'INVALID_ARGUMENT' } }, 'Google'],
  ])('any other shape is converted: %j', (body, message) => {
    expect(read(body)).toMatchObject({ message, type: 'invalid_request_error', param: null })
  })

  test('a status in words becomes the code', () => {
    expect(read({ error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT' } }).code).toBe(
      'INVALID_ARGUMENT',
    )
  })

  test('plain text becomes the message', () => {
    expect(read('  model is cold \n', 'text/plain').message).toBe('model is cold')
  })
})

describe('a body without a readable error gets a new message', () => {
  test.each<[unknown, string]>([
    ['<!doctype html><h1>400 Bad Request</h1><hr>nginx', 'text/html'],
    ['<html>', 'text/plain'],
    ['', 'text/plain'],
    ['{"error":', 'application/json'],
    [{}, 'application/json'],
    [{ error: {} }, 'application/json'],
    [{ error: { message: '' } }, 'application/json'],
    [[], 'application/json'],
    ['x'.repeat(100_000), 'text/plain'],
  ])('a body without a readable error gets a new message: %#', (body, contentType) => {
    expect(read(body, contentType)).toEqual({ message: UNSAID, type: 'invalid_request_error', param: null })
  })

  test('bytes that are not text', () => {
    expect(readUpstreamError('\uFFFD').message).toBe(UNSAID)
  })
})

test('hosts, keys and organisations are scrubbed from every part', () => {
  const error = {
    message: 'https://api.upstream.example/v1 refused the-secret-key of org-12345678',
    type: 'from api.upstream.example',
    code: 'the-secret-key',
    param: 'api.upstream.example',
  }

  const scrubbed = readUpstreamError(JSON.stringify({ error }), 'application/json', SECRETS)

  expect(scrubbed).toEqual({
    message: '[link] refused [redacted] of [organization]',
    type: 'from [host]',
    code: '[redacted]',
    param: '[host]',
  })
})

test('a long message is shortened', () => {
  expect(read({ error: { message: 'w '.repeat(20_000), type: 't' } }).message).toHaveLength(2_000)
})
