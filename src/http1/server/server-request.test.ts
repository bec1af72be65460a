import { describe, expect, test } from 'bun:test'
import { chunkedBody, getRequest, postHead } from '../testing/http-text.ts'
import { rejection } from '../testing/rejection.ts'
import { fakeConnection } from '../testing/fake-connection.ts'
import { turn } from '../testing/turn.ts'
import type { HttpError } from './http-error.ts'

const LIMITS = { bytesMax: 1 << 20, idleMs: 30_000, totalMs: 100_000 }
const MEGABYTE = 1 << 20
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** A connection that has received this, and its request. */
function received(...pieces: (string | Buffer)[]) {
  const fake = fakeConnection()
  for (const piece of pieces) fake.send(piece)
  return { fake, request: fake.requests[0]!.request }
}

/** Marks a promise as handled that a test looks at later. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined)
  return promise
}

const isPending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise.catch(() => undefined), turn().then(() => 'pending')])) === 'pending'

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('latin1')

describe('a body as text', () => {
  test('a body as text has its length in bytes', async () => {
    const { request } = received(Buffer.from(`${postHead('content-length: 3')}\u20ac`))

    expect(await request.text(LIMITS)).toEqual({ text: '\u20ac', byteLength: 3 })
  })

  test.each<[string, string]>([
    ['with a length', `${postHead('content-length: 2')}\u00ff"`],
    ['in chunks', postHead('transfer-encoding: chunked') + chunkedBody('\u00ff')],
  ])('a body as text is refused if it is not UTF-8: %s', async (_, sent) => {
    const { request } = received(sent)

    expect(await rejection(request.text(LIMITS))).toMatchObject({ code: 'body_not_utf8' })
  })

  test('a body as text that declares a length over the limit is refused before it arrives', async () => {
    const { request } = received(postHead(`content-length: ${MEGABYTE + 1}`))

    expect(await rejection(request.text(LIMITS))).toMatchObject({
      code: 'body_too_large',
      message: 'The request body exceeds the limit of 1 MB.',
    })
  })

  test('a body as text can be read once', async () => {
    const { request } = received(`${postHead('content-length: 2')}hi`)
    await request.text(LIMITS)

    expect(await rejection(request.bytes(LIMITS))).toMatchObject({
      message: 'The request body has already been read.',
    })
  })
})

describe('a body that is read to its end', () => {
  test('a body that is read to its end is received only in a small part before that', async () => {
    const { fake, request } = received(postHead(`content-length: ${MEGABYTE}`))
    fake.send(Buffer.alloc(60_000))
    const before = [...fake.done]
    fake.send(Buffer.alloc(60_000))
    const paused = [...fake.done]

    const body = request.bytes(LIMITS)
    await turn()
    fake.send(Buffer.alloc(MEGABYTE - 120_000))

    expect([before, paused, fake.done]).toEqual([[], ['pause'], ['pause', 'resume']])
    expect(await body).toHaveLength(MEGABYTE)
  })

  test.each([0, 1, 65_535, 65_536, 65_537, 100_000])(
    'a body that is read to its end is whole with %p bytes, and takes no more memory than they do',
    async length => {
      const whole = Buffer.from(Array.from({ length }, (_, index) => index % 251))
      const pieces = [whole.subarray(0, 65_536), whole.subarray(65_536)].filter(piece => piece.length > 0)
      const chunks = pieces.map(piece => [
        Buffer.from(`${piece.length.toString(16)}\r\n`),
        piece,
        Buffer.from('\r\n'),
      ])
      const ways: [string, Buffer[]][] = [
        [`content-length: ${length}`, pieces],
        [
          'transfer-encoding: chunked',
          [...chunks.map(parts => Buffer.concat(parts)), Buffer.from('0\r\n\r\n')],
        ],
      ]
      for (const [framing, sent] of ways) {
        const { fake, request } = received(postHead(framing))
        const body = request.bytes(LIMITS)

        for (const piece of sent) fake.send(piece)

        const bytes = await body
        expect(whole.equals(bytes)).toBe(true)
        expect(bytes.buffer.byteLength).toBe(length)
      }
    },
  )

  test.each<[string, string, number]>([
    ['never starts', '', 30],
    ['stops half-way', 'abc', 30],
  ])('a body that is read to its end fails if it %s', async (_, sent, seconds) => {
    const { fake, request } = received(postHead('content-length: 5') + sent)
    const body = handled(request.bytes(LIMITS))
    await turn()

    fake.pass(seconds)
    const wasPending = await isPending(body)
    fake.pass(1)

    expect(wasPending).toBe(true)
    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
  })

  test('a body that is read to its end may arrive slowly', async () => {
    const { fake, request } = received(postHead('content-length: 100000'))
    const body = request.bytes({ ...LIMITS, totalMs: 600_000 })

    for (let pieces = 0; pieces < 10; pieces += 1) {
      fake.pass(20)
      fake.send(Buffer.alloc(10_000))
      await turn()
    }

    expect(await body).toHaveLength(100_000)
  })

  test('a body that is read to its end fails when it has taken too long in total, even if it never pauses', async () => {
    const { fake, request } = received(postHead('transfer-encoding: chunked'))
    const body = handled(request.bytes(LIMITS))

    for (let drips = 0; drips < 4; drips += 1) {
      fake.send('1\r\nx\r\n')
      await turn()
      fake.pass(25)
    }
    const wasPending = await isPending(body)
    fake.pass(1)

    expect(wasPending).toBe(true)
    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
  })

  test('a body that is read to its end fails if chunk extensions arrive without any content', async () => {
    const { fake, request } = received(`${postHead('transfer-encoding: chunked')}1;`)
    const body = handled(request.bytes(LIMITS))

    for (let second = 0; second < 31; second += 1) {
      fake.pass(1)
      fake.send('x')
    }

    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
  })

  test('a body that is read to its end in chunks ends after its trailers', async () => {
    const { fake, request } = received(
      `${postHead('transfer-encoding: chunked')}3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\nx-sum: 1\r\n\r\n${getRequest('/2')}`,
    )

    expect(text(await request.bytes(LIMITS))).toBe('{"a":1}')
    request.respond({ status: 200, headers: {}, body: '' })
    await turn()
    expect(fake.requests[1]!.request.path).toBe('/2')
  })

  test.each(['before', 'after'])(
    'a body that is read to its end fails over the limit if it arrives %s the reading begins',
    async when => {
      const { fake, request } = received(postHead('transfer-encoding: chunked'))
      const early = when === 'after' ? handled(request.bytes({ ...LIMITS, bytesMax: 5 })) : undefined
      fake.send('5\r\nabcde\r\n')
      const wasPending = early === undefined || (await isPending(early))

      fake.send('1\r\nf\r\n')

      const body = early ?? request.bytes({ ...LIMITS, bytesMax: 5 })
      expect(wasPending).toBe(true)
      expect(await rejection(body)).toMatchObject({ code: 'body_too_large' })
    },
  )

  test.each(['before', 'after'])(
    'a body that is read to its end fails if a malformed chunk arrives %s the reading begins',
    async when => {
      const { fake, request } = received(postHead('transfer-encoding: chunked'))
      const early = when === 'after' ? handled(request.bytes(LIMITS)) : undefined

      fake.send('zz\r\n')

      expect(await rejection(early ?? request.bytes(LIMITS))).toMatchObject({ code: 'malformed_request' })
    },
  )

  test.each(['before', 'after'])(
    'a body that is read to its end fails if the client disconnects %s the reading begins',
    async when => {
      const { fake, request } = received(`${postHead('content-length: 5')}abc`)
      const early = when === 'after' ? handled(request.bytes(LIMITS)) : undefined

      fake.connection.onClose()

      const body = early ?? request.bytes(LIMITS)
      expect(await rejection(body)).toMatchObject({ code: 'client_disconnected' })
      expect([request.clientDisconnected, request.signal.aborted]).toEqual([true, true])
    },
  )

  test('a body that is read to its end is kept after a disconnect if all of it had arrived', async () => {
    const { fake, request } = received(postHead('content-length: 5'), 'abcde')

    fake.connection.onClose()

    expect(text(await request.bytes(LIMITS))).toBe('abcde')
  })

  test('a body that is read to its end fails after the response', async () => {
    const { request } = received(`${postHead('content-length: 5')}abc`)
    const body = handled(request.bytes(LIMITS))

    request.respond({ status: 200, headers: {}, body: '' })

    expect(await rejection(body)).toMatchObject({ code: 'body_discarded' })
  })

  test('a body that is read to its end gets 100 Continue when it is read, and only then', async () => {
    const { fake, request } = received(postHead('content-length: 2', 'expect: 100-continue'))
    const before = fake.sent

    const body = request.text(LIMITS)
    const called = fake.sent
    fake.send('h')
    await turn()
    fake.send('i')

    expect([before, called]).toEqual(['', CONTINUE])
    expect(await body).toMatchObject({ text: 'hi' })
    expect(fake.sent).toBe(CONTINUE)
  })

  test('a body that is read to its end gets no 100 Continue if it has arrived without it', async () => {
    const { fake, request } = received(postHead('content-length: 2', 'expect: 100-continue'), 'hi')

    expect(await request.text(LIMITS)).toMatchObject({ text: 'hi' })
    expect(fake.sent).toBe('')
  })
})

describe('a body as a stream', () => {
  test('a body as a stream is read as it arrives', async () => {
    const { fake, request } = received(`${postHead('transfer-encoding: chunked')}2\r\nab\r\n`)
    const stream = request.stream(LIMITS)

    const first = text(await stream.read())
    const second = stream.read()
    fake.send('1\r\nc\r\n1\r\nd\r\n')
    const third = text(await second)
    const last = stream.read()
    fake.send('0\r\n\r\n')

    expect([first, third, await last, await stream.read()]).toEqual(['ab', 'cd', undefined, undefined])
  })

  test('a body as a stream has one piece if it arrived with its head', async () => {
    const { request } = received(`${postHead('content-length: 2')}hi`)
    const stream = request.stream(LIMITS)

    expect([text(await stream.read()), await stream.read()]).toEqual(['hi', undefined])
  })

  test('a body as a stream pauses the socket while it is not read', async () => {
    const { fake, request } = received(postHead(`content-length: ${MEGABYTE}`))
    const stream = request.stream(LIMITS)
    let length = 0
    const history: string[] = []

    for (let reads = 0; reads < 3; reads += 1) {
      const piece = stream.read()
      fake.send(Buffer.alloc(100_000))
      length += (await piece)!.length
      fake.send(Buffer.alloc(100_000))
      history.push(fake.done.at(-1)!)
      length += (await stream.read())!.length
      history.push(fake.done.at(-1)!)
    }

    expect(length).toBe(600_000)
    expect(history).toEqual(['pause', 'resume', 'pause', 'resume', 'pause', 'resume'])
  })

  test('a body as a stream does not count the time in which it is not read', async () => {
    const { fake, request } = received(postHead('content-length: 10'))
    const stream = request.stream({ ...LIMITS, totalMs: 40_000 })

    const first = stream.read()
    fake.pass(20)
    fake.send('a')
    await first
    fake.pass(10_000)
    const second = handled(stream.read())
    fake.pass(20)
    const wasPending = await isPending(second)
    fake.pass(1)

    expect(wasPending).toBe(true)
    expect(await rejection(second)).toMatchObject({ code: 'body_timeout' })
  })

  test.each([
    ['fails when it arrives more slowly than the minimum rate', 900, 'body_timeout'],
    ['continues when it arrives a little faster', 1100, undefined],
  ])('a body as a stream %s', async (_, bytesPerSecond, code) => {
    const rateMin = { bytesPerS: 1024, afterMs: 30_000 }
    const { fake, request } = received(postHead(`content-length: ${MEGABYTE}`))
    const stream = request.stream({ ...LIMITS, rateMin })
    const refusals: unknown[] = []

    for (let second = 1; second <= 90; second += 1) {
      const piece = stream.read().catch((error: HttpError) => refusals.push(error.code))
      fake.pass(1)
      fake.send(Buffer.alloc(bytesPerSecond))
      await piece
    }

    expect(refusals[0]).toBe(code)
  })

  test('a body as a stream may arrive at any rate at first', async () => {
    const rateMin = { bytesPerS: 1024, afterMs: 30_000 }
    const { fake, request } = received(postHead(`content-length: ${MEGABYTE}`))
    const stream = request.stream({ ...LIMITS, rateMin })

    const first = stream.read()
    fake.pass(29)
    fake.send(Buffer.alloc(60_000))
    await first
    const second = handled(stream.read())
    fake.pass(29)
    const wasPending = await isPending(second)
    fake.pass(1)

    // 60,000 bytes are 1 KB/s for 58.6 s.
    expect(wasPending).toBe(true)
    expect(await isPending(second)).toBe(true)

    fake.pass(1)
    expect(await rejection(second)).toMatchObject({ code: 'body_timeout' })
  })

  test('a body as a stream does not count the time in which it is not read in its rate', async () => {
    const rateMin = { bytesPerS: 1024, afterMs: 30_000 }
    const { fake, request } = received(postHead('content-length: 10'))
    const stream = request.stream({ ...LIMITS, rateMin })

    const first = stream.read()
    fake.pass(20)
    fake.send('a')
    await first
    fake.pass(10_000)
    const second = handled(stream.read())
    fake.pass(10)
    const wasPending = await isPending(second)
    fake.pass(1)

    expect(wasPending).toBe(true)
    expect(await rejection(second)).toMatchObject({ code: 'body_timeout' })
  })

  test('a body as a stream that declares a length over the limit is refused before it arrives', () => {
    const { request } = received(postHead(`content-length: ${MEGABYTE + 1}`))

    expect(() => request.stream(LIMITS)).toThrow('exceeds the limit of 1 MB')
  })

  test('a body as a stream in chunks fails when it exceeds the limit', async () => {
    const { fake, request } = received(postHead('transfer-encoding: chunked'))
    const stream = request.stream({ ...LIMITS, bytesMax: 5 })
    const first = stream.read()
    fake.send('5\r\nabcde\r\n')
    const whole = text(await first)
    const second = handled(stream.read())
    fake.send('1\r\nf')

    expect(whole).toBe('abcde')
    expect(await rejection(second)).toMatchObject({ code: 'body_too_large' })
    expect(await rejection(stream.read())).toMatchObject({ code: 'body_too_large' })
  })

  test('a body as a stream fails if a chunk is malformed', async () => {
    const { fake, request } = received(postHead('transfer-encoding: chunked'))
    const stream = request.stream(LIMITS)
    const first = stream.read()
    fake.send('1\r\naX\r\n')

    expect(text(await first)).toBe('a')
    expect(await rejection(stream.read())).toMatchObject({ code: 'malformed_request' })
  })

  test('a body as a stream fails if the client disconnects', async () => {
    const { fake, request } = received(postHead('content-length: 5'))
    const stream = request.stream(LIMITS)
    const pending = handled(stream.read())

    fake.connection.onClose()

    expect(await rejection(pending)).toMatchObject({ code: 'client_disconnected' })
    expect(await rejection(stream.read())).toMatchObject({ code: 'client_disconnected' })
  })

  test('a body as a stream ends when it is cancelled, and what arrives after that is dropped up to a limit', async () => {
    const { fake, request } = received(postHead(`content-length: ${MEGABYTE}`))
    const stream = request.stream(LIMITS)
    const pending = stream.read()

    stream.cancel()
    fake.send(Buffer.alloc(60_000))
    const before = [...fake.done]
    fake.send(Buffer.alloc(60_000))

    expect([await pending, await stream.read()]).toEqual([undefined, undefined])
    expect([before, fake.done]).toEqual([[], ['pause']])
    request.respond({ status: 200, headers: {}, body: 'done' })
    await turn()
    expect(fake.sent).toEndWith('done')
    expect(fake.done).toEqual(['pause', 'resume'])
  })
})
