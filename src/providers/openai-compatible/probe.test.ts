import { afterEach, expect, test } from 'bun:test'
import type { Provider } from '../../domain/catalog/provider.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { probeOpenAiCompatible } from './openai-compatible.ts'

const KEY = 'sk-probe-secret'
const http = httpClient(new Timers(fakeClock()))
let server: ReturnType<typeof Bun.serve> | undefined

afterEach(async () => {
  await server?.stop(true)
  server = undefined
})

test('a provider that responds with its list of models is fine', async () => {
  const seen: string[] = []
  const url = upstream(request => {
    seen.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
    return Response.json({ data: [] })
  })

  const probed = await probe({ baseUrl: `${url}/v1` })

  expect(probed).toEqual({ ok: true, detail: 'Responds (status 200).' })
  expect(seen).toEqual([`GET /v1/models Bearer ${KEY}`])
})

test.each([
  [
    404,
    true,
    'Responds, but has no list of models (status 404). If it should have one, base_url lacks part of its path, such as /v1.',
  ],
  [405, true, 'Responds (status 405).'],
  [401, false, 'Refuses its key (status 401).'],
  [403, false, 'Refuses its key (status 403).'],
  [503, false, 'Responds with status 503.'],
])('a provider that responds with status %i gets %p: %s', async (status, ok, detail) => {
  const url = upstream(() => new Response(null, { status }))

  const probed = await probe({ baseUrl: url })

  expect(probed).toEqual({ ok, detail })
})

test('a provider that is not there is reported with the code of the network', async () => {
  const probed = await probe({ baseUrl: refusedUrl() })

  expect(probed.ok).toBe(false)
  expect(probed.detail).toStartWith('Does not respond (')
  expect(probed.detail).not.toContain(KEY)
})

test('a variable that is not set is reported before anything is sent', async () => {
  const provider = aProvider({ secret: { from: 'environment', variable: 'MAIN_API_KEY' } })

  const probed = await probeOpenAiCompatible(provider, { secretOf: () => undefined, http })

  expect(probed).toEqual({ ok: false, detail: 'The environment variable MAIN_API_KEY is not set.' })
})

test('a probe has the same query and the same headers as a call', async () => {
  const seen: string[] = []
  const url = upstream(request => {
    const { pathname, search } = new URL(request.url)
    seen.push(
      `${pathname}${search} ${request.headers.get('api-key')} ${request.headers.get('accept-encoding')}`,
    )
    return Response.json({ data: [] })
  })

  await probe({ baseUrl: `${url}/v1?api-version=1`, headers: { 'api-key': 'k' } })

  expect(seen).toEqual(['/v1/models?api-version=1 k identity'])
})

test('a key that cannot be sent in a header is reported without the key', async () => {
  const probed = await probeOpenAiCompatible(aProvider({}), { secretOf: () => 'a\nb', http })

  expect(probed).toEqual({ ok: false, detail: 'Its key or one of its headers cannot be sent in a header.' })
})

function probe(changes: Partial<Provider>) {
  return probeOpenAiCompatible(aProvider(changes), { secretOf: () => KEY, http })
}

function aProvider(changes: Partial<Provider>): Provider {
  return {
    id: 'main',
    kind: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:1',
    secret: { from: 'literal', value: KEY },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
    ...changes,
  }
}

function upstream(answer: (request: Request) => Response): string {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  return `http://127.0.0.1:${server.port}`
}
