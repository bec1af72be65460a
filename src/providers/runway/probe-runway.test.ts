import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import { runwayDialect } from '../../../test/support/simulators/media/runway.ts'
import {
  htmlReply,
  jsonReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { probeRunway } from './probe-runway.ts'

const clock = fakeClock()
const row = mediaProviderRow('runway', 'https://api.example.com', 'key-1')

test.each([
  ['key-1', true, 'Responds (status 200).'],
  ['wrong', false, 'Refuses its key or its account (status 401).'],
])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
  const simulator = new MediaSimulator(runwayDialect, { clock, key: 'key-1' })
  const send = simulatedSend(request => simulator.handle(request), clock)
  const probed = { ...row, secret: { from: 'literal', value: key } } as const

  expect(await probeRunway(probed, { send, secretOf: literalSecret })).toEqual({ ok, detail })
  expect(simulator.creates).toBe(0)
})

test.each<[SimulatedReply, boolean, string]>([
  [jsonReply({ error: 'No.' }, 403), false, 'Refuses its key or its account (status 403).'],
  [jsonReply({ error: 'Too many requests' }, 429), true, 'Responds (status 429).'],
  [htmlReply(404), false, 'Responds, but not like an API of this kind (status 404).'],
  [htmlReply(502), false, 'Responds with status 502.'],
  [{ send: 'reset' }, false, 'Does not respond (ECONNRESET).'],
])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
  const send = simulatedSend(() => reply, clock)

  expect(await probeRunway(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
})
