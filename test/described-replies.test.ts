import { describe, expect, test } from 'bun:test'
import { wholeDocument } from './support/whole-document.ts'
import { describedReplies, type SentReply } from './support/described-reply.ts'
import { startTestGateway } from './support/gateway.ts'
import { rejection } from './support/rejection.ts'

// Every gateway of the tests holds each of its replies against the document; see `startTestGateway`.

const check = describedReplies(wholeDocument())
const BALANCE = { balance: '1', total_used: '0' }
const credits = (change: Partial<SentReply>): SentReply => ({
  method: 'GET',
  path: '/v1/credits',
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(BALANCE),
  ...change,
})
const withError = (error: object) => JSON.stringify({ error: { message: 'No.', param: null, ...error } })

test('a described reply is accepted', () => {
  expect(check(credits({}))).toBeUndefined()
  expect(check(credits({ method: 'HEAD', body: '' }))).toBeUndefined()
})

describe('a reply that is not described is found:', () => {
  test.each<[string, Partial<SentReply>]>([
    ['a path', { path: '/v1/debts' }],
    ['a method', { method: 'POST' }],
    ['a status', { status: 201 }],
    ['a content type', { contentType: 'text/plain' }],
    ['no content type', { contentType: undefined }],
    ['a body that is not JSON', { body: '{' }],
    ['a member', { body: JSON.stringify({ ...BALANCE, more: 1 }) }],
    ['a missing member', { body: JSON.stringify({ balance: '1' }) }],
    ['an amount with trailing zeros', { body: JSON.stringify({ ...BALANCE, balance: '1.50' }) }],
    ['an error code', { status: 401, body: withError({ type: 'authentication_error', code: 'no_key' }) }],
    [
      'an error of another status',
      { status: 401, body: withError({ type: 'not_found_error', code: 'not_found' }) },
    ],
    [
      'a frame of a stream',
      {
        method: 'POST',
        path: '/v1/chat/completions',
        contentType: 'text/event-stream',
        body: 'data: {"usage":{"cost_usd":0.5}}\n\ndata: [DONE]\n\n',
      },
    ],
  ])('a reply that is not described is found: %s', (_, change) => {
    expect(check(credits(change))).toContain(`${change.path ?? '/v1/credits'} → ${change.status ?? 200}`)
  })
})

test('a gateway of the tests does not stop without an error after a reply that is not described', async () => {
  const gateway = await startTestGateway({
    overrides: {
      aroundHandler: handler => ({
        ...handler,
        handle: async request =>
          request.respond({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
      }),
    },
  })

  const reply = await fetch(`${gateway.url}/health/live`)

  expect(await reply.text()).toBe('{}')
  expect(String(await rejection(gateway.stop()))).toContain('GET /health/live → 200')
})
