import { expect, test } from 'bun:test'
import { usesGoogleTools } from './request-features.ts'

const lookup = { type: 'function', function: { name: 'lookup' } }

test.each([
  ['in extra_body', { extra_body: { google: { tools: [{ google_search: {} }] } } }],
  ['in extra_body, beside its own functions', { tools: [lookup], extra_body: { google: { tools: [{}] } } }],
  ['beside its own functions', { tools: [lookup, { google_search: {} }] }],
  ['with a type', { tools: [{ type: 'code_execution' }] }],
])('a request can use tools that run at Google: %s', (_, body) => {
  expect(usesGoogleTools(body)).toBe(true)
})

test.each([
  ['without tools', {}],
  ['with null as its tools', { tools: null, extra_body: null }],
  ['with its own functions', { tools: [lookup] }],
  ['with a function that has no type', { tools: [{ function: { name: 'lookup' } }] }],
  ['with an empty list', { tools: [], extra_body: { google: { tools: [] } } }],
  ['with other settings for Google', { extra_body: { google: { thinking_config: {} } } }],
])('a request %s uses no tools that run at Google', (_, body) => {
  expect(usesGoogleTools(body)).toBe(false)
})
