import { expect, test } from 'bun:test'
import { aCatalogOf, aDestination } from '../../../test/support/upstream-rows.ts'
import { doubtfulKeys } from './doubtful-keys.ts'
import type { Provider } from './provider.ts'

const HTTPS = 'https://api.example.com/v1'

function warningsOf(change: Partial<Provider>): readonly string[] {
  const base = aDestination('main')
  return doubtfulKeys(
    aCatalogOf([{ ...base, provider: { ...base.provider, baseUrl: HTTPS, headers: {}, ...change } }]),
  )
}

const literal = (value: string) => ({ secret: { from: 'literal', value } }) as const
const none = { secret: { from: 'none' } } as const

test('a key that looks like the name of a variable is doubtful, and the warning does not repeat it', () => {
  expect(warningsOf(literal('DEEPSEEK_API_KEY'))).toEqual([
    'Provider "main": its api_key looks like the name of an environment variable and is sent as the key itself. If it is a name, write env: before it.',
  ])
})

test.each(['sk-proj_AB', 'AKIDEXAMPLE', 'key_live_1', `A_${'B'.repeat(64)}`, 'tg_live_ABC'])(
  'the key %s is not doubtful',
  key => {
    expect(warningsOf(literal(key))).toEqual([])
  },
)

test.each(['anthropic', 'fal', 'kling', 'veo'] as const)(
  'a row of kind %s without a key is doubtful',
  kind => {
    expect(warningsOf({ ...none, kind })).toEqual([
      `Provider "main": it has no api_key, and the kind ${kind} needs one. Write api_key: env:NAME.`,
    ])
  },
)

test.each<[string, Partial<Provider>]>([
  ['that may be a server of the operator', { kind: 'openai-compatible' }],
  ['in its own network', { kind: 'anthropic', baseUrl: 'http://10.0.0.7:8080' }],
  ['whose key is in a header', { kind: 'anthropic', headers: { 'x-goog-api-key': 'env:A' } }],
])('a row without a key %s is not doubtful', (_, change) => {
  expect(warningsOf({ ...none, ...change })).toEqual([])
})

test('a key in a variable is not doubtful', () => {
  expect(
    warningsOf({ kind: 'anthropic', secret: { from: 'environment', variable: 'MAIN_API_KEY' } }),
  ).toEqual([])
})
