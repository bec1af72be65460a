import { expect, test } from 'bun:test'
import { problemSentence } from '../catalog/rows/problem.ts'
import {
  decodeKeyDefaults,
  encodeKeyDefaults,
  EXPIRES_IN_S_MAX,
  NO_KEY_DEFAULTS,
  patchKeyDefaults,
  readKeyDefaults,
  settingsOfNewKey,
  WITHOUT_DEFAULTS,
  writeKeyDefaults,
  type NewKeyDefaults,
} from './key-defaults.ts'

const ALL = {
  limits: { requests_per_minute: 60, tokens_per_minute: null, concurrent_requests: null },
  budgets: { day: null, week: null, month: '20', total: null },
  models: ['gpt-*'],
  routes: ['images'],
  allowed_addresses: ['10.0.0.0/8'],
  expires_in: 3600,
}

function defaultsOf(change: object): NewKeyDefaults {
  const read = decodeKeyDefaults(change)
  if (!read.ok) throw new Error(read.problems.map(problem => problemSentence(problem)).join(' '))
  return patchKeyDefaults(NO_KEY_DEFAULTS, read.value)
}

test('defaults are the same after they were stored and shown', () => {
  const defaults = defaultsOf(ALL)

  expect(readKeyDefaults(writeKeyDefaults(defaults))).toEqual(defaults)
  expect(encodeKeyDefaults(defaults)).toEqual(ALL)
})

test('defaults without settings are stored as earlier versions stored them', () => {
  const stored = '{"limits":{"requests_per_minute":60},"budgets":{"day":"1"}}'

  expect(writeKeyDefaults(readKeyDefaults(stored))).toBe(stored)
})

test('one change removes all defaults', () => {
  expect(patchKeyDefaults(defaultsOf(ALL), WITHOUT_DEFAULTS)).toEqual(NO_KEY_DEFAULTS)
})

test('a new key expires after the time of the defaults', () => {
  const { allowedAddresses } = defaultsOf(ALL).settings

  const settings = settingsOfNewKey(defaultsOf(ALL), 5)

  expect(settings).toEqual({
    models: ['gpt-*'],
    routes: ['images'],
    allowedAddresses: allowedAddresses!,
    expiresAtMs: 3_600_005,
  })
})

test.each([0, -1, 1.5, '60', EXPIRES_IN_S_MAX + 1])(
  'keys that expire after %j seconds are refused',
  seconds => {
    expect(() => defaultsOf({ expires_in: seconds })).toThrow(
      /^expires_in is .*write a whole number of seconds/,
    )
  },
)
