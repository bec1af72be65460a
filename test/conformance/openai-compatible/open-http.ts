import type { Provider } from '../../../src/domain/catalog/provider.ts'
import type { Timers } from '../../../src/http1/timers.ts'
import type { HttpClient } from '../../../src/http1/client/http-client.ts'
import { turn } from '../../support/turn.ts'

/** Opens the client under test. */
export type OpenHttp = (timers: Timers) => HttpClient

/** A provider at this base URL, with a key. */
export function providerAt(baseUrl: string, changes: Partial<Provider> = {}): Provider {
  return {
    id: 'main',
    kind: 'openai-compatible',
    baseUrl,
    secret: { from: 'literal', value: 'sk-test' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
    ...changes,
  }
}

/** Whether a promise is still pending after a number of turns of the event loop. */
export async function isPending(promise: Promise<unknown>, turns = 20): Promise<boolean> {
  const settling = { isOver: false }
  const end = () => {
    settling.isOver = true
  }
  promise.then(end, end)
  for (let waited = 0; waited < turns && !settling.isOver; waited += 1) {
    await turn()
  }
  return !settling.isOver
}
