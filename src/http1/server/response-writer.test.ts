import { describe, expect, test } from 'bun:test'
import { getRequest, responseHeadText } from '../testing/http-text.ts'
import { fakeConnection } from '../testing/fake-connection.ts'
import { shortLivedPieces } from '../testing/short-lived-pieces.ts'
import { turn } from '../testing/turn.ts'
import type { ByteStream } from '../byte-stream.ts'

/** A stream that a test fills. Each read overwrites the piece before. */
function aStream() {
  const give = shortLivedPieces()
  const pieces: (Uint8Array<ArrayBuffer> | undefined)[] = []
  let wake = () => {}
  const stream = {
    reads: 0,
    isCancelled: false,
    put(text: string | undefined) {
      pieces.push(text === undefined ? undefined : new TextEncoder().encode(text))
      const waking = wake
      wake = () => {}
      waking()
    },
    body: {
      async read() {
        stream.reads += 1
        give(undefined)
        if (pieces.length === 0) await new Promise<void>(resolve => (wake = resolve))
        return give(pieces.shift())
      },
      cancel: () => void (stream.isCancelled = true),
    },
  }
  return stream
}

const answeredWith = (body: ByteStream) =>
  fakeConnection(request => request.respond({ status: 200, headers: {}, body }))

test('a stream is sent in chunks, its head with its first piece', async () => {
  const stream = aStream()
  const fake = fakeConnection()
  fake.send(getRequest('/1') + getRequest('/2'))
  fake.requests[0]!.request.respond({ status: 200, headers: {}, body: stream.body })
  await turn()
  const before = fake.sent
  stream.put('hello')
  await turn()
  const first = fake.sent
  stream.put('x'.repeat(70_000))
  stream.put(undefined)
  await turn()

  const head = responseHeadText('transfer-encoding: chunked')
  expect([before, first]).toEqual(['', `${head}5\r\nhello\r\n`])
  expect(fake.sent).toBe(`${first}11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`)
  expect(fake.requests).toHaveLength(2)
})

test('an empty stream is sent as a head and the last chunk', async () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)
  fake.send(getRequest())
  stream.put(undefined)
  await turn()

  expect(fake.sent).toBe(`${responseHeadText('transfer-encoding: chunked')}0\r\n\r\n`)
})

describe('a stream of a declared length', () => {
  const answeredWithLength = (body: ByteStream, contentLength: number) =>
    fakeConnection(request => request.respond({ status: 200, headers: {}, body, contentLength }))

  test('a stream of a declared length is sent with a content-length and without chunks, and the connection is kept', async () => {
    const stream = aStream()
    const fake = answeredWithLength(stream.body, 10)
    fake.send(getRequest('/1') + getRequest('/2'))
    stream.put('hello')
    stream.put('world')
    stream.put(undefined)
    await turn()

    expect(fake.sent).toBe(`${responseHeadText('content-length: 10')}helloworld`)
    expect([fake.requests.length, fake.done]).toEqual([2, []])
  })

  test('a stream of a declared length keeps the connection of an HTTP/1.0 client that asks for that', async () => {
    const stream = aStream()
    const fake = answeredWithLength(stream.body, 5)
    fake.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
    stream.put('hello')
    stream.put(undefined)
    await turn()

    expect(fake.sent).toBe(`${responseHeadText('connection: keep-alive', 'content-length: 5')}hello`)
    expect(fake.done).toEqual([])
  })

  test('a stream of a declared length may be empty', async () => {
    const stream = aStream()
    const fake = answeredWithLength(stream.body, 0)
    fake.send(getRequest())
    stream.put(undefined)
    await turn()

    expect(fake.sent).toBe(responseHeadText('content-length: 0'))
  })

  test('a stream of a declared length has its length in the response to HEAD, and is not read', () => {
    const stream = aStream()
    const fake = answeredWithLength(stream.body, 10)

    fake.send(getRequest().replace('GET', 'HEAD'))

    expect(fake.sent).toBe(responseHeadText('content-length: 10'))
    expect([stream.reads, stream.isCancelled]).toEqual([0, true])
  })

  test.each([
    ['shorter', ['hello'], 'hello'],
    ['longer', ['hello', 'world!'], 'hello'],
  ])(
    'a stream of a declared length is reported if it is %s, and nothing more is sent',
    async (_, pieces, sent) => {
      const stream = aStream()
      const fake = answeredWithLength(stream.body, 10)
      fake.send(getRequest())
      for (const piece of [...pieces, undefined]) stream.put(piece)
      await turn()

      expect(fake.done).toEqual(['A streamed response does not have the 10 bytes that were declared.'])
      expect(fake.sent).toBe(`${responseHeadText('content-length: 10')}${sent}`)
    },
  )
})

test('a stream to an HTTP/1.0 client ends with the connection', async () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)
  fake.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
  stream.put('hello')
  stream.put(undefined)
  await turn()

  expect(fake.sent).toBe(`${responseHeadText('connection: close')}hello`)
  expect(fake.done).toEqual(['closed', 'end'])
})

test('a stream is read only as fast as its client takes it', async () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)
  for (let count = 0; count < 10; count += 1) stream.put('hello')
  fake.room = 150
  fake.send(getRequest())
  await turn()
  const stalled = stream.reads
  await turn()
  const later = stream.reads
  fake.drain(Infinity)
  await turn()

  expect(later).toBe(stalled)
  // The kernel took only a part of the seventh chunk.
  expect([stalled, stream.reads]).toEqual([7, 11])
  expect(fake.sent).toEndWith('5\r\nhello\r\n'.repeat(10))
})

test.each(['read', 'sent', 'not started'])(
  'a stream is cancelled when its client disconnects while it is %s',
  async when => {
    const stream = aStream()
    const fake = fakeConnection()
    fake.send(getRequest())
    const { request } = fake.requests[0]!
    fake.room = when === 'sent' ? 10 : Infinity
    if (when === 'not started') fake.connection.onClose()
    request.respond({ status: 200, headers: {}, body: stream.body })
    if (when === 'sent') stream.put('hello')
    await turn()
    const before = stream.isCancelled
    fake.connection.onClose()
    await turn()

    expect([before, stream.isCancelled]).toEqual([when === 'not started', true])
    expect(fake.done).toEqual(['closed'])
  },
)

test('a stream is cancelled when its client takes nothing in time', async () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)
  fake.room = 10
  fake.send(getRequest())
  stream.put('hello')
  await turn()

  fake.pass(601)

  expect(stream.isCancelled).toBe(true)
  expect(fake.done).toEqual(['closed', 'terminate'])
})

test('a stream may take any time for its next piece', async () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)
  fake.send(getRequest())
  stream.put('hello')
  await turn()

  fake.pass(10_000)

  expect(fake.done).toEqual([])
})

test('a stream is not read for HEAD', () => {
  const stream = aStream()
  const fake = answeredWith(stream.body)

  fake.send(getRequest().replace('GET', 'HEAD'))

  expect(fake.sent).toBe(responseHeadText('transfer-encoding: chunked'))
  expect([stream.reads, stream.isCancelled]).toEqual([0, true])
})

test('a stream that fails is reported', async () => {
  const fake = answeredWith({ read: () => Promise.reject(new Error('No more.')), cancel: () => {} })

  fake.send(getRequest())
  await turn()

  expect(fake.done).toEqual(['No more.'])
})
