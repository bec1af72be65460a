import { expect, test } from 'bun:test'
import { messagesErrorBody, messagesErrorEvent } from './errors.ts'

test('an error gets a type, and its code where SDKs look for it, and keeps its envelope', () => {
  const error = { message: 'No.', type: 'insufficient_balance', code: 'insufficient_balance' }

  const body = messagesErrorBody({ error, required_usd: '1' })

  expect(body).toEqual({
    type: 'error',
    error: { ...error, details: { error_code: 'insufficient_balance' } },
    required_usd: '1',
  })
})

test('an error without a code has no details', () => {
  const envelope: { error: { message: string; code?: string } } = { error: { message: 'No.' } }

  const body = messagesErrorBody(envelope)

  expect(body).toEqual({ type: 'error', error: { message: 'No.' } })
})

test('an error inside a stream is an error event', () => {
  const envelope: { error: { message: string; code?: string } } = { error: { message: 'a\nb' } }

  const event = messagesErrorEvent(envelope)

  expect(event).toBe('event: error\ndata: {"type":"error","error":{"message":"a\\nb"}}\n\n')
})
