import { describe, expect, test } from 'bun:test'
import { sentText } from '../../test/support/sent-text.ts'
import { parseJsonObject } from './json/parse-json.ts'
import { unambiguousFields } from './request-fields.ts'

const FIELDS = new Set(['model', 'messages', 'stream', 'max_tokens', 'stream_options'])

const refuse = (text: string) => unambiguousFields(parseJsonObject(sentText(text)), FIELDS, 'model')

describe('the error for a field that parsers could read differently names it', () => {
  test.each([
    ['model', '{"model":"a","model":"b"}'],
    ['model', '{"model":"a","Model":"b"}'],
    ['model', '{"MODEL":"a"}'],
    ['model', '{"model":"a","mod\\u0065l":"b"}'],
    ['model', '{"mod\\u0065l":"a","\\u006dodel":"b"}'],
    ['messages', '{"me\\u017fsages":[]}'],
    ['messages', '{"meſsages":[]}'],
    ['max_tokens', '{"max_to\\u212aens":1}'],
    ['max_tokens', '{"max_tokens":1,"Max_Tokens":9}'],
    ['stream_options', '{"stream_opt\u0131ons":{}}'],
    ['stream_options', '{"stream_opt\u0130ons":{}}'],
  ])('the error for a field that parsers could read differently names it: %s in %s', (field, text) => {
    expect(() => refuse(text)).toThrow(
      expect.objectContaining({ code: 'ambiguous_field', extras: { param: field } }),
    )
  })
})

describe('a document that can only be read in one way passes', () => {
  test.each([
    '{"mod\\u0065l":"a"}',
    '{"user":1,"user":2,"User":3}',
    '{"model":"a","messages":[{"model":1,"Model":2}]}',
    '{"Models":1,"modél":2,"":3,"__proto__":4}',
    '{}',
  ])('a document that can only be read in one way passes: %s', text => {
    expect(() => refuse(text)).not.toThrow()
  })
})
