import { expect, test } from 'bun:test'
import { currentPoll, onSocketData, onSocketEvent, type Receiver } from './socket-polls.ts'
import { turn } from './testing/turn.ts'

/** Receivers that write down what they get, in order. */
function aLog() {
  const log: string[] = []
  const receiver = (name: string, onData: () => void = () => {}): Receiver => ({
    onData(bytes) {
      log.push(`${name}: ${bytes.toString()}`)
      onData()
    },
    onFault: error => log.push(`${name} failed: ${(error as Error).message}`),
  })
  return { log, receiver }
}

const bytes = (text: string) => Buffer.from(text)

test('bytes are delivered in order after all callbacks of a poll', async () => {
  const { log, receiver } = aLog()
  onSocketData(receiver('first'), bytes('a'))
  onSocketData(receiver('second'), bytes('b'))
  const during = [...log]

  await turn()

  expect(during).toEqual([])
  expect(log).toEqual(['first: a', 'second: b'])
})

test('another event of a socket comes after the bytes that arrived before it', () => {
  const { log, receiver } = aLog()
  onSocketData(receiver('one'), bytes('a'))

  onSocketEvent()

  expect(log).toEqual(['one: a'])
})

test('an event that a receiver causes comes after the bytes that still wait', async () => {
  const { log, receiver } = aLog()
  const closing = receiver('closing', () => {
    onSocketEvent()
    log.push('closed')
  })
  onSocketData(closing, bytes('a'))
  onSocketData(receiver('other'), bytes('b'))

  await turn()

  expect(log).toEqual(['closing: a', 'other: b', 'closed'])
})

test('more than 256 KB of waiting bytes are delivered at once', () => {
  const { log, receiver } = aLog()
  onSocketData(receiver('small'), bytes('a'))

  onSocketData({ ...receiver('large'), onData: ({ length }) => log.push(`${length}`) }, Buffer.alloc(262_144))

  expect(log).toEqual(['small: a', '262144'])
})

test('a receiver that throws does not keep the others from their bytes', async () => {
  const { log, receiver } = aLog()
  const broken = receiver('broken', () => {
    throw new Error('a defect')
  })
  onSocketData(broken, bytes('a'))
  onSocketData(receiver('other'), bytes('b'))

  await turn()

  expect(log).toEqual(['broken: a', 'broken failed: a defect', 'other: b'])
})

test('bytes belong to the poll that found them until they are delivered', async () => {
  const { receiver } = aLog()
  const polls: (number | undefined)[] = []
  onSocketData(
    receiver('one', () => polls.push(currentPoll())),
    bytes('a'),
  )
  const arrivedIn = currentPoll()

  await turn()

  expect(polls).toEqual([arrivedIn])
  expect(currentPoll()).toBeUndefined()
})

test('the runtime gives each callback bytes that it does not use again', async () => {
  const kept: Buffer[] = []
  const received = Promise.withResolvers<void>()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, piece) {
        kept.push(piece)
        if (kept.length === 50) received.resolve()
        else socket.write('next')
      },
    },
  })
  let sent = 0
  const client = await Bun.connect({
    hostname: '127.0.0.1',
    port: listener.port,
    socket: {
      open: socket => void socket.write('piece 00'),
      data: socket => void socket.write(`piece ${String((sent += 1)).padStart(2, '0')}`),
    },
  })

  await received.promise
  client.end()
  listener.stop(true)

  const texts = kept.map(piece => piece.toString())
  expect(texts).toEqual(Array.from({ length: 50 }, (_, index) => `piece ${String(index).padStart(2, '0')}`))
})

test('after so many callbacks that the runtime may have polled again, the poll is not known', async () => {
  onSocketEvent()
  const first = currentPoll()
  for (let callback = 1; callback <= 512; callback += 1) onSocketEvent()
  const late = currentPoll()

  await turn()
  onSocketEvent()

  expect(first).toBeNumber()
  expect(late).toBeUndefined()
  expect(currentPoll()).toBe(first! + 1)
})
