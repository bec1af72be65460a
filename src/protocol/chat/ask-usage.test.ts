import { expect, test } from 'bun:test'
import { withUsageAsked } from './ask-usage.ts'

test.each([
  ['{"model":"m"}', '{"stream_options":{"include_usage":true},"model":"m"}'],
  [' {\n "model":"m"}', ' {"stream_options":{"include_usage":true},\n "model":"m"}'],
  ['{"model":"m","stream_options":null}', '{"model":"m","stream_options":{"include_usage":true}}'],
  ['{"stream_options": {} ,"model":"m"}', '{"stream_options": {"include_usage":true} ,"model":"m"}'],
  [
    '{"stream_options":{"include_usage": false , "x":1e400},"n":1.0}',
    '{"stream_options":{"include_usage": true , "x":1e400},"n":1.0}',
  ],
  [
    '{"stream_options":{"include_obfuscation":false},"n":1.0}',
    '{"stream_options":{"include_usage":true,"include_obfuscation":false},"n":1.0}',
  ],
  [
    '{"stream_options":{"include_usage":null,"include\\u005fusage":false}}',
    '{"stream_options":{"include_usage":true,"include\\u005fusage":true}}',
  ],
  [
    '{"messages":[{"stream_options":{}}],"stream\\u005foptions":{}}',
    '{"messages":[{"stream_options":{}}],"stream\\u005foptions":{"include_usage":true}}',
  ],
])('%s asks for usage as %s', (text, asked) => {
  expect(withUsageAsked(text)).toBe(asked)
  expect(JSON.parse(asked)).toMatchObject({ stream_options: { include_usage: true } })
})
