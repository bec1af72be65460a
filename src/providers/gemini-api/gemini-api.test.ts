import { afterEach, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { fixtureText } from '../../../test/support/simulators/media/fixtures.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { veoDialect } from '../../../test/support/simulators/media/veo.ts'
import type { SimulatedReply } from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedServer, type SimulatedServer } from '../../../test/support/simulators/simulated-server.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { mediaHttp } from '../media/media-http.ts'
import { probeGemini } from './gemini-api.ts'

const fixture = (name: string) => fixtureText('veo', name)
const clock = fakeClock()
const send = mediaHttp(httpClient(new Timers(clock)))
let server: SimulatedServer | undefined
afterEach(() => server?.close())

const probe = (baseUrl: string, key = 'key-1') =>
  probeGemini(mediaProviderRow('veo', baseUrl, key), { send, secretOf: literalSecret })

test.each([
  ['key-1', true, 'Responds (status 200).'],
  ['wrong', false, 'Refuses its key (status 400, code INVALID_ARGUMENT).'],
])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
  const simulator = new MediaSimulator(veoDialect, { clock, key: 'key-1' })
  server = simulatedServer(request => simulator.handle(request), clock)

  expect(await probe(`${server.url}/v1beta`, key)).toEqual({ ok, detail })
  expect([simulator.creates, simulator.polls]).toEqual([0, 0])
})

test.each([
  [200, '{"models":[]}', true, 'Responds (status 200).'],
  [200, '<html>', false, 'Responds, but not like the Gemini API (status 200).'],
  [
    404,
    fixture('invalid-argument'),
    false,
    'Responds, but not like the Gemini API (status 404, code INVALID_ARGUMENT).',
  ],
  [403, fixture('permission-denied'), false, 'Refuses its key (status 403, code PERMISSION_DENIED).'],
  [429, fixture('quota-of-minute'), true, 'Responds (status 429, code RESOURCE_EXHAUSTED).'],
  [503, fixture('unavailable'), false, 'Responds with an error (status 503, code UNAVAILABLE).'],
])('a provider that answers with %d %j is ok: %p', async (status, body, ok, detail) => {
  const reply: SimulatedReply = { send: 'answer', status, headers: {}, body }
  server = simulatedServer(() => reply, clock)

  expect(await probe(server.url)).toEqual({ ok, detail })
})

test('a provider that is not there is reported with the code of the network', async () => {
  const { ok, detail } = await probe(refusedUrl())

  expect(ok).toBe(false)
  expect(detail).toStartWith('Does not respond (')
})
