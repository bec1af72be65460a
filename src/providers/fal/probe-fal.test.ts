import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { literalSecret, mediaProviderRow } from '../../../test/support/media-providers.ts'
import { falDialect } from '../../../test/support/simulators/media/fal.ts'
import { MediaSimulator } from '../../../test/support/simulators/media/media-simulator.ts'
import {
  htmlReply,
  jsonReply,
  type SimulatedReply,
} from '../../../test/support/simulators/simulated-reply.ts'
import { simulatedSend } from '../../../test/support/simulators/simulated-send.ts'
import { probeFal } from './probe-fal.ts'

const clock = fakeClock()
const row = mediaProviderRow('fal', 'https://queue.example.com', 'key-1')

test.each([
  ['key-1', true, 'Responds (status 404).'],
  ['wrong', false, 'Refuses its key or its account (status 401).'],
])('a provider with the key %s is ok: %p', async (key, ok, detail) => {
  const simulator = new MediaSimulator(falDialect, { clock, key: 'key-1' })
  const send = simulatedSend(request => simulator.handle(request), clock)

  const probed = await probeFal(
    { ...row, secret: { from: 'literal', value: key } },
    { send, secretOf: literalSecret },
  )

  expect(probed).toEqual({ ok, detail })
  expect(simulator.creates).toBe(0)
})

test.each<[SimulatedReply, boolean, string]>([
  [jsonReply({ detail: 'User is locked.' }, 403), false, 'Refuses its key or its account (status 403).'],
  [jsonReply({ detail: 'Too many requests' }, 429), true, 'Responds (status 429).'],
  [htmlReply(502), false, 'Responds with status 502.'],
  [{ send: 'reset' }, false, 'Does not respond (ECONNRESET).'],
])('a provider that answers with %j is ok: %p', async (reply, ok, detail) => {
  const send = simulatedSend(() => reply, clock)

  expect(await probeFal(row, { send, secretOf: literalSecret })).toEqual({ ok, detail })
})

test('a row that cannot be called is not ok', async () => {
  const send = simulatedSend(() => htmlReply(), clock)
  const lost = { ...row, secret: { from: 'lost' } } as const

  expect((await probeFal(lost, { send, secretOf: literalSecret })).ok).toBe(false)
})
