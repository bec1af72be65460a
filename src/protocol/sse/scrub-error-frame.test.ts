import { expect, test } from 'bun:test'
import { scrubErrorFrame } from './scrub-error-frame.ts'

const secrets = { baseUrls: ['http://10.1.2.3:9000/v1'], keys: ['key-of-the-operator'] }
const scrubbed = (frame: string) =>
  new TextDecoder().decode(scrubErrorFrame(new TextEncoder().encode(frame), secrets))

test.each([
  [
    'an error of a chat stream',
    'data: {"error":{"message":"failed at http:\\/\\/10.1.2.3:9000/v1 with key-of-the-operator"}}\n\n',
  ],
  [
    'a failed response',
    'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"message":"see http://10.1.2.3:9000/v1"}}}\n\n',
  ],
  [
    'an error that is not JSON',
    'event: error\ndata: http://10.1.2.3:9000/v1 refused\ndata: key-of-the-operator\n\n',
  ],
])('%s contains neither the host nor the key of the operator', (_, frame) => {
  const shown = scrubbed(frame)

  expect(shown).not.toContain('10.1.2.3')
  expect(shown).not.toContain('key-of-the-operator')
  expect(shown).toEndWith('\n\n')
  expect(shown.split('\n')[0]).toBe(frame.startsWith('event') ? frame.split('\n')[0]! : shown.split('\n')[0]!)
})

test('an error frame without a secret keeps its bytes, and a failed response its output', () => {
  const plain = 'data: { "error": {"message": "overloaded", "code": 1.0} }\n\n'
  const words =
    'data: {"type":"response.failed","response":{"output":[{"text":"http://10.1.2.3:9000/v1"}],"error":null}}\n\n'

  expect(scrubbed(plain)).toBe(plain)
  expect(scrubbed(words)).toBe(words)
})
