import { afterEach, describe, expect, test } from 'bun:test'
import { until } from '../until.ts'
import { fakeClock } from '../fake-clock.ts'
import { rejection } from '../rejection.ts'
import { jsonReply, type SimulatedReply } from './simulated-reply.ts'
import { simulatedServer, type SimulatedServer } from './simulated-server.ts'

const clock = fakeClock()
let server: SimulatedServer

function serve(...replies: SimulatedReply[]): string {
  server = simulatedServer(() => replies.shift() ?? { send: 'nothing' }, clock)
  return server.url
}

afterEach(() => server.close())

describe('a simulated server', () => {
  test('a simulated server passes on a request and sends its answer', async () => {
    const url = serve(jsonReply({ a: 'ü' }, 429, { 'retry-after': '7' }))

    const response = await fetch(`${url}/path?b=c`, { method: 'POST', body: '{}' })

    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await response.json()).toEqual({ a: 'ü' })
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/path?b=c' })
  })

  test('a simulated server breaks a connection before an answer', async () => {
    const url = serve({ send: 'reset' })

    expect(await rejection(fetch(url))).toMatchObject({ code: 'ECONNRESET' })
  })

  test('a simulated server sends a body piece by piece, each after a pause', async () => {
    const url = serve({ send: 'pieces', headers: {}, piece: new Uint8Array([1, 2]), bytes: 5, pauseMs: 1000 })

    const response = await fetch(url)
    const body = response.bytes()
    for (const _ of [1, 2]) {
      await until('the server pauses', () => clock.waiting > 0)
      clock.advance(1000)
    }

    expect(await body).toEqual(new Uint8Array([1, 2, 1, 2, 1]))
  })

  test('a simulated server declares the length of a large body, and sends it while it is read', async () => {
    const piece = new Uint8Array(65_536)
    const url = serve({ send: 'pieces', headers: {}, piece, bytes: 2 ** 31, pauseMs: 0 })

    const response = await fetch(url)
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await reader?.cancel()

    expect(response.headers.get('content-length')).toBe(String(2 ** 31))
    expect(first?.value?.length).toBeGreaterThan(0)
  })
})
