import { expect, test } from 'bun:test'
import { aDestination } from '../../../test/support/upstream-rows.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { secretsOf } from './upstream-secrets.ts'

const { provider } = aDestination('main')
const values: Readonly<Record<string, string>> = {
  KEY: 'key-1',
  PAIR: 'access-1,secret-1',
  TEAM: 'team-1,team-2',
}

/** The secrets of a provider whose key and headers come from these variables. */
function secretsWith(
  change: Pick<Provider, 'kind'> & { readonly key: string; readonly headers?: Provider['headers'] },
) {
  const { kind, key, headers = {} } = change
  const row: Provider = { ...provider, kind, headers, secret: { from: 'environment', variable: key } }
  return secretsOf(row, ({ secret }) => (secret.from === 'environment' ? values[secret.variable] : undefined))
}

test('the secrets of a provider are its key and the values of its headers from variables', () => {
  const headers = { 'x-team': 'env:TEAM', 'x-tier': 'gold' }

  expect(secretsWith({ kind: 'openai-compatible', key: 'KEY', headers })).toEqual(['key-1', 'team-1,team-2'])
})

test('a key pair is two secrets, and the value of a header is one', () => {
  const headers = { 'x-team': 'env:TEAM' }

  expect(secretsWith({ kind: 'kling', key: 'PAIR', headers })).toEqual([
    'access-1',
    'secret-1',
    'team-1,team-2',
  ])
})

test('unset variables are not secrets', () => {
  for (const kind of ['openai-compatible', 'kling'] as const)
    expect(secretsWith({ kind, key: 'ABSENT', headers: { 'x-team': 'env:GONE' } })).toEqual([])
})
