import { expect, test } from 'bun:test'
import { messagesErrorBody, messagesErrorEvent } from './errors.ts'

const envelope = { error: { message: 'No.', type: 'insufficient_balance' }, required_usd: '1' }

test('an error says that it is one beside the envelope, which stays as it is', () => {
  expect(messagesErrorBody(envelope)).toEqual({ type: 'error', ...envelope })
})

test('an error inside a stream is an event of that name', () => {
  expect(messagesErrorEvent({ error: { message: 'a\nb' } })).toBe(
    'event: error\ndata: {"type":"error","error":{"message":"a\\nb"}}\n\n',
  )
})
