import { describe, expect, test } from 'bun:test'
import { keyRefusal, mayUseModel, type Arrival } from './key-access.ts'
import { decodeKeySettings, patchKeySettings, type KeySettings } from './key-settings.ts'

const NOW = Date.UTC(2026, 10, 23)

function settingsOf(fields: object): KeySettings {
  const decoded = decodeKeySettings(fields)
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return patchKeySettings(undefined, decoded.value) ?? {}
}

/** A request of a key with these settings, by default for a chat from 10.0.0.1. */
function codeFor(fields: object, arrival: Partial<Arrival> = {}, disabledAtMs: number | null = null) {
  const asked = { route: 'chat_completions', clientAddress: () => '10.0.0.1', ...arrival } as const
  return keyRefusal({ disabledAtMs, settings: settingsOf(fields) }, asked, NOW)?.code
}

describe('a key', () => {
  test.each([
    ['that nothing restricts', {}, {}, undefined],
    ['before it expires', { expires_at: '2026-11-23T00:00:00.001Z' }, {}, undefined],
    ['at the time at which it expires', { expires_at: '2026-11-23T00:00:00Z' }, {}, 'key_expired'],
    ['on its route', { routes: ['images', 'chat_completions'] }, {}, undefined],
    ['on another route', { routes: ['images'] }, {}, 'route_not_allowed'],
    ['for a read that every key may make', { routes: ['images'] }, { route: undefined }, undefined],
    ['from its address', { allowed_addresses: ['10.0.0.0/8'] }, {}, undefined],
    ['from another address', { allowed_addresses: ['10.0.0.2'] }, {}, 'address_not_allowed'],
    [
      'from another address, for a read that every key may make',
      { allowed_addresses: ['10.0.0.2'] },
      { route: undefined },
      'address_not_allowed',
    ],
    [
      'from an unknown address',
      { allowed_addresses: ['0.0.0.0/0', '::/0'] },
      { clientAddress: () => undefined },
      'address_not_allowed',
    ],
    [
      'that expired, from another address',
      { expires_at: '2026-01-01T00:00:00Z', allowed_addresses: ['10.0.0.2'] },
      {},
      'key_expired',
    ],
  ])('a key %s is answered or refused', (_, fields, arrival, code) => {
    expect<string | undefined>(codeFor(fields, arrival)).toBe(code)
  })

  test('a disabled key is refused, and names no restriction', () => {
    expect(codeFor({ routes: ['images'] }, {}, NOW - 1)).toBe('key_disabled')
  })

  test('the refusal of a route names the routes of the key, and that of an address names none', () => {
    const arrival: Arrival = { route: 'videos', clientAddress: () => '203.0.113.7' }
    const messageFor = (fields: object) =>
      keyRefusal({ disabledAtMs: null, settings: settingsOf(fields) }, arrival, NOW)?.message

    expect(messageFor({ routes: ['images', 'messages'] })).toBe(
      'This API key may not use videos. It may use images, messages.',
    )
    expect(messageFor({ allowed_addresses: ['10.0.0.0/8'] })).toBe(
      'This API key may not be used from this address.',
    )
  })
})

describe('a pattern of models', () => {
  test.each([
    ['gpt-*', 'gpt-5'],
    ['gpt-*', 'gpt-'],
    ['*', 'meta/llama'],
    ['meta/*', 'meta/llama/70b'],
    ['*-mini', 'gpt-5-mini'],
    ['gpt-*-mini', 'gpt-5-mini'],
    ['*a*b*', 'xaxbx'],
    ['a**b', 'ab'],
    ['gpt-5', 'gpt-5'],
  ])('a pattern of models such as %s fits %s', (pattern, id) => {
    expect(mayUseModel({ models: [pattern] }, { id, kind: 'chat' })).toBe(true)
  })

  test.each([
    ['gpt-*', 'xgpt-5'],
    ['gpt-5', 'gpt-5-mini'],
    ['gpt-5', 'GPT-5'],
    ['*-mini', 'gpt-5-minimal'],
    ['ab*ba', 'aba'],
    ['*a*b', 'ba'],
    ['a*b*b', 'ab'],
    ['gpt.5', 'gpt-5'],
  ])('a pattern of models such as %s does not fit %s', (pattern, id) => {
    expect(mayUseModel({ models: [pattern] }, { id, kind: 'chat' })).toBe(false)
  })

  test('a pattern of models with many stars is compared in one pass', () => {
    // A comparison that tries every division of the name would not end.
    const pattern = `${'a*'.repeat(60)}b`

    expect(mayUseModel({ models: [pattern] }, { id: 'a'.repeat(128), kind: 'chat' })).toBe(false)
  })
})

test.each([
  ['chat', ['responses'], true],
  ['chat', ['embeddings', 'images'], false],
  ['embedding', ['embeddings'], true],
  ['image', ['images'], true],
  ['video', ['images'], false],
] as const)('a %s model can be called by a key with the routes %p: %p', (kind, routes, isAllowed) => {
  expect(mayUseModel({ routes }, { id: 'x', kind })).toBe(isAllowed)
})
