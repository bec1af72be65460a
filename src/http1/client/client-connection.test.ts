import { expect, test } from 'bun:test'
import { rejection } from '../testing/rejection.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { Timers } from '../timers.ts'
import { onSocketEvent } from '../socket-polls.ts'
import { ClientConnection } from './client-connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange } from './exchange.ts'
import { httpRequest } from './http-request.ts'
import type { ClientSocket } from './open-connection.ts'
import { turn } from '../testing/turn.ts'

const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

/** A connection over a socket that the test plays. */
function aConnection() {
  const timers = new Timers(fakeClock())
  const pool = new ConnectionPool(timers)
  const written: string[] = []
  let isTerminated = false
  const socket = {
    write(bytes: Buffer, offset: number, length: number) {
      written.push(bytes.toString('utf8', offset, offset + length))
      return length
    },
    terminate: () => (isTerminated = true),
    pause() {},
    resume() {},
  }
  const request = httpRequest({ method: 'POST', url: new URL('http://127.0.0.1:1/path') })
  const connection = new ClientConnection(request.origin, socket as unknown as ClientSocket, pool)
  return {
    written,
    receive: (bytes: string) => {
      onSocketEvent()
      connection.onData(Buffer.from(bytes))
    },
    isTerminated: () => isTerminated,
    isIdle: () => pool.take(request.origin) === connection,
    ask: async (body: string) => {
      const exchange = new Exchange(timers, undefined)
      connection.send(exchange, request, body)
      const response = await exchange.response
      return (await response.readAll(100)).toString()
    },
  }
}

test('a request is written when it is made', async () => {
  const { ask, written, receive } = aConnection()

  const asked = ask('hello')

  expect(written).toEqual([
    'POST /path HTTP/1.1\r\nhost: 127.0.0.1:1\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello',
  ])
  await turn()
  receive(RESPONSE)
  expect(await asked).toBe('{}')
})

test('a response is accepted that is found by the first poll after its request', async () => {
  const { ask, receive } = aConnection()
  // A commit ends in a callback of setImmediate. The sockets are polled after it, before the next such callback.
  await turn()

  const asked = ask('hello')
  receive(RESPONSE)

  expect(await asked).toBe('{}')
})

test('bytes that are found by a poll before a request was written are not its response', async () => {
  const { ask, receive, isTerminated, isIdle } = aConnection()
  const first = ask('first')
  await turn()
  receive(RESPONSE)
  await first
  expect(isIdle()).toBe(true)

  const second = ask('second')
  receive(RESPONSE)

  expect(await rejection(second)).toMatchObject({ code: 'UNSOLICITED_DATA' })
  expect(isTerminated()).toBe(true)
  expect(isIdle()).toBe(false)
})
