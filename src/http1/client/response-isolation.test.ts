import { afterEach, beforeEach, expect, test } from 'bun:test'
import { fakeClock } from '../testing/fake-clock.ts'
import * as replies from '../testing/upstream-replies.ts'
import { startUpstream, type Exchange, type Reply, type Upstream } from '../testing/upstream.ts'
import { Timers } from '../timers.ts'
import { httpClient, type HttpClient } from './http-client.ts'
import { httpRequest } from './http-request.ts'
import { turns } from '../testing/turn.ts'

const REQUESTS = 400
const AT_ONCE = 8

let upstream: Upstream
let http: HttpClient

beforeEach(() => {
  upstream = startUpstream()
  http = httpClient(new Timers(fakeClock()))
})

afterEach(() => {
  http.close()
  upstream.close()
})

/** The response that repeats the body of the request it belongs to. */
function markedResponse(exchange: Exchange): string {
  const body = exchange.request.text()
  return replies.head(200, { 'content-length': String(body.length) }) + body
}

/** Each of these sends more, or less, than one whole response to some requests, and the right response later. */
const faults: readonly [string, Reply][] = [
  [
    'sends a 408 and later the response',
    async exchange => {
      await exchange.write(replies.head(408, { 'content-length': '2' }) + '{}')
      await turns(3)
      await exchange.write(markedResponse(exchange))
    },
  ],
  [
    'sends a 408 without a body and later the response',
    async exchange => {
      await exchange.write(replies.head(408, { 'content-length': '0' }))
      await turns(3)
      await exchange.write(markedResponse(exchange))
    },
  ],
  [
    'sends less of the body of an error than it declares, and later the response',
    async exchange => {
      await exchange.write(`${replies.head(500, { 'content-length': '20' })}{"error":`)
      await turns(3)
      await exchange.write(markedResponse(exchange))
    },
  ],
  [
    'sends the response twice',
    async exchange => {
      await exchange.write(markedResponse(exchange))
      await exchange.write(markedResponse(exchange))
    },
  ],
  [
    'sends another response behind the first one',
    exchange => exchange.write(markedResponse(exchange) + replies.head(200, { 'content-length': '0' })),
  ],
]

test.each(faults)('no request gets the response of another from a server that %s', async (_, fault) => {
  let count = 0
  upstream.reply(exchange => {
    count += 1
    return count % 5 === 0 ? fault(exchange) : exchange.write(markedResponse(exchange))
  })
  const wrong: string[] = []
  let next = 0
  const askAll = async () => {
    while (next < REQUESTS) {
      const mark = `"request ${(next += 1)}"`
      const response = await ask(mark)
      if (response.status === 200 && response.body !== mark) wrong.push(`${mark} got ${response.body}`)
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, askAll))

  expect(wrong).toEqual([])
  expect(upstream.requests).toHaveLength(REQUESTS)
})

test('a connection is closed after a 408', async () => {
  upstream.reply(replies.json({}, { status: 408 }))

  await ask('"first"')
  await ask('"second"')

  expect(upstream.connections).toBe(2)
})

test('a connection is used again after another error whose body was whole', async () => {
  upstream.reply(replies.json({}, { status: 429 }))

  await ask('"first"')
  await ask('"second"')

  expect(upstream.connections).toBe(1)
})

async function ask(mark: string): Promise<{ readonly status: number; readonly body: string }> {
  try {
    const request = httpRequest({ method: 'POST', url: new URL(upstream.baseUrl) })
    const response = await http.send(request, { body: mark })
    return { status: response.status, body: (await response.readAll(10_000)).toString() }
  } catch (error) {
    return { status: 0, body: String(error) }
  }
}
