import { beforeEach, describe, expect, test } from 'bun:test'
import { rejection } from '../testing/rejection.ts'
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { readAll } from '../read-all.ts'
import { Timers } from '../timers.ts'
import { Exchange } from './exchange.ts'
import { clientError } from './client-error.ts'
import { readResponseHead, type ResponseHead } from './response-head.ts'
import { turn } from '../testing/turn.ts'

const HEAD = readResponseHead(
  Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
  0,
  'GET',
) as ResponseHead
const LARGE = 32 * 1024

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

/** An exchange whose head has come, and the calls of its transport. */
function anExchange({ signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  const calls: string[] = []
  const exchange = new Exchange(new Timers(clock), signal)
  exchange.start(timeoutMs)
  exchange.attach({
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    abandon: () => void calls.push('abandon'),
  })
  exchange.onHead(HEAD)
  const receive = (length: number) => exchange.onPiece(Buffer.alloc(length + 2), 1, length + 1)
  return { exchange, receive, calls }
}

describe('the transport', () => {
  test('the transport is not paused while less than 32 KB are buffered', async () => {
    const { exchange, receive, calls } = anExchange()

    receive(LARGE - 1)

    expect((await exchange.read())?.length).toBe(LARGE - 1)
    expect(calls).toEqual([])
  })

  test('the transport is paused at 32 KB, until all of it was read and more is asked for', async () => {
    const { exchange, receive, calls } = anExchange()
    receive(LARGE - 1)
    receive(1)
    expect(calls).toEqual(['pause'])

    await exchange.read()
    await exchange.read()
    expect(calls).toEqual(['pause'])
    const next = exchange.read()

    expect(calls).toEqual(['pause', 'resume'])
    receive(1)
    expect((await next)?.length).toBe(1)
  })

  test('the transport is paused behind a large piece, which its reader may take long to pass on', async () => {
    const { exchange, receive, calls } = anExchange()
    const reading = exchange.read()

    receive(LARGE)

    expect((await reading)?.length).toBe(LARGE)
    expect(calls).toEqual(['resume', 'pause'])
  })

  test('the transport delivers a whole response that is larger than the buffer', async () => {
    const { exchange, receive, calls } = anExchange()
    const reading = readAll(exchange, 10 * LARGE)

    for (let count = 0; count < 3; count += 1) {
      receive(LARGE)
      await turn()
      expect(calls.at(-1)).toBe('resume')
    }
    exchange.onEnd()

    expect((await reading)?.length).toBe(3 * LARGE)
  })

  test('the transport is abandoned when the exchange is cancelled', async () => {
    const { exchange, receive, calls } = anExchange()
    receive(1)

    exchange.cancel()

    expect(calls).toEqual(['abandon'])
    expect(await rejection(exchange.read())).toMatchObject({ code: 'ABORT_ERR' })
  })

  test('the transport that comes after the exchange was cancelled is abandoned', () => {
    const { exchange } = anExchange()
    exchange.cancel()
    const calls: string[] = []

    exchange.attach({ pause() {}, resume() {}, abandon: () => void calls.push('abandon') })

    expect(calls).toEqual(['abandon'])
  })
})

test('pieces are plain byte arrays, whose slices are copies', async () => {
  const { exchange, receive } = anExchange()
  receive(5)

  const piece = (await exchange.read())!

  expect(piece.slice().buffer).not.toBe(piece.buffer)
  expect(piece).toHaveLength(5)
})

test('the received part of a response that breaks off can still be read', async () => {
  const { exchange, receive } = anExchange()
  receive(5)

  exchange.fail(clientError('ECONNRESET'))

  expect((await exchange.read())?.length).toBe(5)
  expect(await rejection(exchange.read())).toMatchObject({ code: 'ECONNRESET' })
})

test('the time limit ends with the response', async () => {
  const late = anExchange({ timeoutMs: 1000 })
  const inTime = anExchange({ timeoutMs: 1000 })
  inTime.exchange.onEnd()

  clock.advance(1000)

  expect(late.calls).toEqual(['abandon'])
  expect(await rejection(late.exchange.read())).toMatchObject({ code: 'RESPONSE_TIMEOUT' })
  expect(await inTime.exchange.read()).toBeUndefined()
  expect(clock.waiting).toBe(0)
})

test('the signal of the caller aborts the exchange, and one that has fired prevents it', () => {
  const controller = new AbortController()
  const { calls } = anExchange({ signal: controller.signal })

  controller.abort()

  expect(calls).toEqual(['abandon'])
  expect(() => anExchange({ signal: controller.signal })).toThrow('ABORT_ERR')
})
