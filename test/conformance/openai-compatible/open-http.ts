import type { Provider } from '../../../src/domain/catalog/provider.ts'
import type { Deadlines } from '../../../src/providers/deadlines.ts'
import type { HttpClient } from '../../../src/http1/client/http-client.ts'

/** Opens the client under test, whose connections wait under these deadlines if it keeps any. */
export type OpenHttp = (deadlines: Deadlines) => HttpClient

/** A provider at that address, with a key. */
export function providerAt(baseUrl: string, changes: Partial<Provider> = {}): Provider {
  return {
    id: 'main',
    kind: 'openai-compatible',
    baseUrl,
    secret: { from: 'literal', value: 'sk-test' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    ...changes,
  }
}

/** True where a promise is still open after the network has had a few turns, or so many, to settle it. */
export async function isPending(promise: Promise<unknown>, turns = 20): Promise<boolean> {
  const settling = { isOver: false }
  const end = () => {
    settling.isOver = true
  }
  promise.then(end, end)
  for (let turn = 0; turn < turns && !settling.isOver; turn += 1) {
    await new Promise(resolve => setImmediate(resolve))
  }
  return !settling.isOver
}
