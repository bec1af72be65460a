import type { Provider } from '../../src/domain/catalog/provider.ts'

/** The row of the built-in sandbox. */
export const sandboxProvider: Provider = {
  id: 'sandbox',
  kind: 'sandbox',
  secret: { from: 'none' },
  headers: {},
  routes: [],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}
