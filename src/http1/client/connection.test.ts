import { afterEach, beforeEach, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { startUpstream, type Exchange as Served, type Upstream } from '../../../test/support/upstream.ts'
import { Deadlines } from '../../providers/deadlines.ts'
import { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import { httpRequest, type HttpRequest } from './http-request.ts'
import { IdleConnections } from './idle-connections.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

let upstream: Upstream
let request: HttpRequest
/** What waits for the end of its turn, which is whenever the test says so. */
let waiting: { send(): void }[]
/** What is done with what comes; at first, as if each piece came in a turn of its own. */
let onArrival: (connection: Connection) => void

beforeEach(() => {
  upstream = startUpstream()
  request = httpRequest(new URL(upstream.baseUrl), new Headers())
  waiting = []
  onArrival = connection => connection.takeArrived()
})

afterEach(() => upstream.close())

test('a request waits for the end of the turn in which it was made, unless its connection has yet to open', async () => {
  const { connection } = await usedConnection()

  const asked = ask(connection, 'second')
  expect(bodies()).toEqual(['first'])
  waiting.shift()?.send()

  expect(await asked).toContain('Hello.')
  expect(bodies()).toEqual(['first', 'second'])
  expect(upstream.connections).toBe(1)
})

test.each<[string, (served: Served) => unknown]>([
  ['closes', served => served.end()],
  ['says what nobody has asked for', served => served.write(ANSWER)],
])('a request whose connection %s before it is sent goes out on another one', async (_, turnsAway) => {
  const { connection, served, closed } = await usedConnection()

  const asked = ask(connection, 'second')
  turnsAway(served)
  await closed
  waiting.shift()?.send()

  expect(await asked).toContain('Hello.')
  expect(bodies()).toEqual(['first', 'second'])
  expect(upstream.connections).toBe(2)
})

test('what came before a request was sent is no answer to it, though it is looked at only then', async () => {
  const { connection, served } = await usedConnection()
  const arrived = Promise.withResolvers<Connection>()
  onArrival = arrived.resolve

  const asked = ask(connection, 'second')
  await served.write(ANSWER)
  const late = await arrived.promise
  onArrival = connection => connection.takeArrived()
  waiting.shift()?.send()
  late.takeArrived()

  expect(await asked).toContain('Hello.')
  expect(bodies()).toEqual(['first', 'second'])
  expect(upstream.connections).toBe(2)
})

test('a request that is cut before it is sent never goes out', async () => {
  const { connection } = await usedConnection()

  const exchange = new Exchange()
  connection.start(exchange, request, 'second')
  exchange.cut()
  waiting.shift()?.send()

  expect(await ask(newConnection(), 'third')).toContain('Hello.')
  expect(bodies()).toEqual(['first', 'third'])
})

function bodies(): string[] {
  return upstream.requests.map(({ body }) => Buffer.from(body).toString())
}

function newConnection(): Connection {
  const idle = new IdleConnections(new Deadlines(fakeClock()))
  return new Connection(request.origin, {
    idle,
    turns: {
      arrivals: {
        add: connection => onArrival(connection),
        handleNow: connection => connection.takeArrived(),
      },
      sends: { add: connection => waiting.push(connection) },
    },
  })
}

/** A connection that has had its first answer, what its server can do with it, and when it hears of its close. */
async function usedConnection() {
  const connection = newConnection()
  const closed = Promise.withResolvers<void>()
  const onClose = connection.onClose.bind(connection)
  connection.onClose = error => {
    onClose(error)
    closed.resolve()
  }
  const held = upstream.hold()
  const asked = ask(connection, 'first')
  const served = await held
  await served.write(ANSWER)
  await asked
  return { connection, served, closed: closed.promise }
}

function ask(connection: Connection, body: string): Promise<string> {
  const exchange = new Exchange()
  connection.start(exchange, request, body)
  return new Promise((resolve, reject) =>
    exchange.answer(10_000, {
      onAnswer: (_, bytes, start, end) => resolve(bytes.toString('utf8', start, end)),
      onTooLarge: () => resolve('too large'),
      onFailed: reject,
    }),
  )
}
