import { getEventListeners } from 'node:events'
import { expect, test } from 'bun:test'
import { providerAt } from '../../../test/conformance/openai-compatible/open-http.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { nextOf } from '../../../test/support/next-of.ts'
import * as replies from '../../../test/support/upstream-replies.ts'
import { startUpstream } from '../../../test/support/upstream.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { openAiCompatible } from './openai-compatible.ts'
import { turns } from '../../../test/support/turn.ts'

const waysToEnd = [
  replies.chatAnswer(),
  replies.sse(['data: 1\n\n', 'data: [DONE]\n\n']),
  replies.resetBeforeHeaders(),
  replies.resetAfterHeaders(),
  replies.badChunk(),
  replies.cutChunked(['a']),
  replies.closeDelimited('{}'),
  replies.silence(),
]

test('2,000 calls that end in every way leave no socket, timer or listener', async () => {
  const upstream = startUpstream()
  const clock = fakeClock()
  const timers = new Timers(clock)
  const http = httpClient(timers)
  const provider = openAiCompatible({ timers, http, secretOf: () => undefined })
  const row = providerAt(upstream.baseUrl)
  const closed: Promise<void>[] = []
  let count = 0
  upstream.reply(exchange => {
    closed.push(exchange.closed)
    return waysToEnd[(count += 1) % waysToEnd.length]!(exchange)
  })
  const kept = new AbortController()
  const call = async (index: number) => {
    const leaving = new AbortController()
    const common = { provider: row, route: 'chat', model: 'm', body: '{"model":"m"}' } as const
    const running =
      index % 2 === 0
        ? provider.complete(
            { ...common, readTimeoutMs: 1000 },
            index % 3 === 0 ? leaving.signal : kept.signal,
          )
        : provider.stream({ ...common, readTimeoutMs: 1000, idleTimeoutMs: 1000 }, kept.signal)
    await turns(index % 7)
    leaving.abort()
    const outcome = await running
    if (outcome.outcome !== 'opened') return
    while ((await nextOf(outcome.body)) instanceof Uint8Array);
  }
  for (let first = 0; first < 2000; first += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => call(first + index))
    // The calls without a response reach their limits, however many turns the others took before.
    for (let round = 0; round < 30; round += 1) {
      await turns(5)
      clock.advance(100)
    }
    await Promise.all(batch)
  }

  http.close()
  await Promise.all(closed)

  expect(closed.length).toBeGreaterThan(1000)
  expect(clock.waiting).toBe(0)
  expect(getEventListeners(kept.signal, 'abort')).toEqual([])
  upstream.close()
})
