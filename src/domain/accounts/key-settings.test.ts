import { describe, expect, test } from 'bun:test'
import { problemSentence } from '../catalog/rows/problem.ts'
import {
  decodeKeySettings,
  encodeKeySettingsPatch,
  patchKeySettings,
  readKeySettings,
  writeKeySettings,
  type KeySettingsPatch,
} from './key-settings.ts'

const ALL = {
  models: ['gpt-*', 'claude-sonnet-4'],
  routes: ['chat_completions', 'images'],
  expires_at: '2027-01-01T00:00:00.000Z',
  allowed_addresses: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
}

function decoded(value: unknown): KeySettingsPatch {
  const read = decodeKeySettings(value)
  if (!read.ok) throw new Error(read.problems.map(problem => problemSentence(problem)).join(' '))
  return read.value
}

describe('the settings of a key', () => {
  test('the settings of a key are the same after they were stored', () => {
    const settings = patchKeySettings(undefined, decoded(ALL))

    const stored = writeKeySettings(settings)

    expect(JSON.parse(stored!)).toEqual(ALL)
    expect(readKeySettings(stored!)).toEqual(settings)
  })

  test('the settings of a key change one by one: null removes one, and an absent one stays', () => {
    const settings = patchKeySettings(undefined, decoded(ALL))

    const changed = patchKeySettings(settings, decoded({ models: null, routes: ['videos'] }))

    expect(JSON.parse(writeKeySettings(changed)!)).toEqual({ ...ALL, models: null, routes: ['videos'] })
  })

  test('the settings of a key are none when all were removed', () => {
    const settings = patchKeySettings(undefined, decoded({ models: ['x'] }))

    const changed = patchKeySettings(settings, decoded({ models: null }))

    expect(changed).toBeUndefined()
    expect(writeKeySettings(changed)).toBeNull()
  })

  test.each([ALL, { models: null }, { routes: null, expires_at: null }, { allowed_addresses: null }, {}])(
    'a change of the settings of a key is the same in its audit line: %j',
    change => {
      expect(encodeKeySettingsPatch(decoded(change))).toEqual(change)
    },
  )
})

describe('a wrong setting is named with its path and a remedy', () => {
  test.each([
    [
      { models: 'gpt-x' },
      'models is "gpt-x"; write a list of models such as ["gpt-*"], or null for no restriction.',
    ],
    [
      { models: [] },
      'models is empty; write a list of models such as ["gpt-*"], or null for no restriction.',
    ],
    [{ models: ['a b'] }, 'models[0] is "a b"; write the id of a model, or a pattern such as "gpt-*".'],
    [{ models: ['x', 'x'] }, 'models[1] is listed twice; list it once.'],
    [
      { models: Array.from({ length: 101 }, (_, index) => `m${index}`) },
      'models has 101 items; write at most 100.',
    ],
    [
      { routes: ['chat'] },
      'routes[0] is "chat"; write one of chat_completions, responses, messages, embeddings, images, videos (did you mean "chat_completions"?).',
    ],
    [
      { expires_at: 1_800_000_000 },
      'expires_at is 1800000000; write a time such as "2027-01-01T00:00:00Z", or null for a key that does not expire.',
    ],
    [
      { expires_at: '2027-02-30T00:00:00Z' },
      'expires_at is "2027-02-30T00:00:00Z"; write a time such as "2027-01-01T00:00:00Z", or null for a key that does not expire.',
    ],
    [
      { allowed_addresses: ['10.1.2.3/8'] },
      'allowed_addresses[0] is "10.1.2.3/8"; write 10.0.0.0/8, which begins at its first address.',
    ],
    [
      { allowed_addresses: [7] },
      'allowed_addresses[0] is 7; write an address or a range such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32.',
    ],
    [{ model: ['x'] }, 'model is not a field of the settings of a key; did you mean models?'],
    [[], 'The value is a list; write an object with models, routes, expires_at, allowed_addresses.'],
  ])('a wrong setting is named with its path and a remedy: %j', (value, sentence) => {
    const read = decodeKeySettings(value)

    expect(read.ok ? [] : read.problems.map(problem => problemSentence(problem))).toEqual([sentence])
  })
})
