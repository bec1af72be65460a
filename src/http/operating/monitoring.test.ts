import { expect, test } from 'bun:test'
import type { RequestContext } from '../request-context.ts'
import { ready, type Readiness } from './monitoring.ts'

const context = (): RequestContext => ({
  request: {} as RequestContext['request'],
  id: { key: 1n, tail: 1n },
  requestId: 'req_1',
  record: {},
})

test.each<[string, Promise<Readiness>, number, object]>([
  ['is 200 while the gateway takes requests', Promise.resolve({ isReady: true }), 200, { status: 'ready' }],
  [
    'is 503 while it stops',
    Promise.resolve({ isReady: false, reason: 'The gateway is stopping.' }),
    503,
    { status: 'not_ready', reason: 'The gateway is stopping.' },
  ],
])('readiness %s', async (_, readiness, status, body) => {
  const reply = await ready(() => readiness)(context())

  expect(reply).toMatchObject({ status, body: JSON.stringify(body) })
})

test('readiness is 503 when the store fails, without its error message, which is logged', async () => {
  const failure = new Error('disk I/O error in /var/lib/tollgate.db')
  const asked = context()

  const reply = await ready(() => Promise.reject(failure))(asked)

  const body = { status: 'not_ready', reason: 'The store cannot be read or written.' }
  expect(reply).toMatchObject({ status: 503, body: JSON.stringify(body) })
  expect(asked.record.failure).toBe(failure)
})
