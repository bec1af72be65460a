import { expect, test } from 'bun:test'
import { StreamReplies } from './stream-reply.ts'

const REPLY =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n10\r\ndata: {"id":1}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n'

test('the begin and the end of a streamed reply are found for every split of its bytes', () => {
  for (let at = 1; at < REPLY.length; at += 1) {
    const replies = new StreamReplies()
    replies.begin()

    const first = replies.feed(Buffer.from(REPLY.slice(0, at)))
    const second = replies.feed(Buffer.from(REPLY.slice(at)))

    expect(first).toBe(at <= REPLY.indexOf('10\r\n') ? 'head' : 'body')
    expect(second).toBe('ended')
  }
})

test.each([
  ['a refusal', 'HTTP/1.1 402 Payment Required\r\ncontent-type: application/json\r\n\r\n{}'],
  ['a stream without [DONE]', REPLY.replace('data: [DONE]', 'data: {"a":1}')],
])('%s is an error', (_, reply) => {
  const replies = new StreamReplies()
  replies.begin()

  expect(() => replies.feed(Buffer.from(reply))).toThrow()
})
