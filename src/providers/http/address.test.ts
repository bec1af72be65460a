import { expect, test } from 'bun:test'
import type { Provider } from '../../domain/catalog/provider.ts'
import { extraHeaders, type SecretOf } from './address.ts'

const provider: Provider = {
  id: 'main',
  kind: 'openai-compatible',
  baseUrl: 'https://api.example.com/v1',
  secret: { from: 'literal', value: 'the-key' },
  headers: { 'x-title': 'Example', 'x-team': 'env:TEAM' },
  routes: ['chat'],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}

/** The variables of an environment. A literal key is not one of them. */
const withVariables =
  (variables: Readonly<Record<string, string>>): SecretOf =>
  ({ secret }) =>
    secret.from === 'environment' ? variables[secret.variable] : 'the-key'

test('a header has the value of its environment variable', () => {
  expect(extraHeaders(provider, withVariables({ TEAM: 'red' }))).toEqual({
    headers: { 'x-title': 'Example', 'x-team': 'red' },
  })
})

test('a header whose variable is not set is a problem that names both', () => {
  expect(extraHeaders(provider, withVariables({}))).toEqual({
    problem: 'the environment variable TEAM of its header x-team is not set',
  })
})
