import { expect, test } from 'bun:test'
import { scrubReplyError } from './scrub-reply-error.ts'

const secrets = { baseUrls: ['http://10.1.2.3:9000/v1'], keys: ['key-of-the-operator'] }

test('all texts of an error are scrubbed, and the rest of the reply keeps its bytes', () => {
  const reply =
    '{ "n": 1.0, "error": {"a": ["key-of-the-operator"], "at": "http:\\/\\/10.1.2.3:9000"}, "text": "10.1.2.3" }'

  expect(scrubReplyError(reply, secrets)).toBe(
    '{ "n": 1.0, "error": {"a":["[redacted]"],"at":"[link]"}, "text": "10.1.2.3" }',
  )
})

test('a repeated error member is scrubbed twice', () => {
  expect(scrubReplyError('{"error":"at 10.1.2.3","error":"key-of-the-operator"}', secrets)).toBe(
    '{"error":"at [host]","error":"[redacted]"}',
  )
})

test('an error with nothing to remove keeps its bytes', () => {
  const reply = '{"error": { "message": "overloaded", "code": 1.0 }, "status": "failed"}'

  expect(scrubReplyError(reply, secrets)).toBe(reply)
})
