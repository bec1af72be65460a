import { afterEach, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { klingProvider, literalSecret } from '../../../test/support/media-providers.ts'
import { klingDialect } from '../../../test/support/simulators/media/kling.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { simulatedServer, type SimulatedServer } from '../../../test/support/simulators/simulated-server.ts'
import {
  jsonReply,
  htmlReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { mediaHttp } from '../media/media-http.ts'
import { probeKling } from './probe-kling.ts'

const clock = fakeClock()
const keys = { accessKey: 'access-1', secretKey: 'secret-1' }
const http = httpClient(new Timers(clock))
let server: SimulatedServer | undefined

afterEach(() => server?.close())

function probe(provider: Provider) {
  return probeKling(provider, { send: mediaHttp(http), clock, secretOf: literalSecret })
}

function serve(handle: () => SimulatedReply): string {
  server = simulatedServer(handle, clock)
  return server.url
}

test.each([
  ['access-1,secret-1', true, 'Responds (status 200, code 0).'],
  ['access-1,wrong', false, 'Refuses its keys (status 401, code 1002).'],
  ['access-1', false, 'It cannot be called: api_key is not an access key and a secret key.'],
])('a provider with the keys %s is ok: %p', async (written, ok, detail) => {
  const simulator = new MediaSimulator(klingDialect({ keys, nowMs: () => clock.now() }), { clock })
  server = simulatedServer(request => simulator.handle(request), clock)

  const probed = await probe(klingProvider(server.url, written))

  expect(probed).toEqual({ ok, detail })
  expect([simulator.creates, simulator.polls]).toEqual([0, 0])
})

test.each([
  [jsonReply({ code: 1102 }, 429), false, 'Refuses the account (status 429, code 1102).'],
  [jsonReply({ code: 1302 }, 429), true, 'Responds (status 429, code 1302).'],
  [jsonReply({ code: 1202 }, 404), false, 'Responds, but not like the Kling API (status 404, code 1202).'],
  [jsonReply({ code: 5001 }, 503), false, 'Responds, but not like the Kling API (status 503, code 5001).'],
  [htmlReply(), false, 'Responds, but not like the Kling API (status 200).'],
])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
  expect(await probe(klingProvider(serve(() => reply)))).toEqual({ ok, detail })
})

test('a provider that is not there is reported with the code of the network', async () => {
  const probed = await probe(klingProvider(refusedUrl()))

  expect(probed.ok).toBe(false)
  expect(probed.detail).toStartWith('Does not respond (')
})
