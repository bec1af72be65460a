import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rejection } from '../../../test/support/rejection.ts'
import { playedConnection, type PlayedConnection } from '../../../test/support/server-connection.ts'
import { turn } from '../../../test/support/turn.ts'
import type { ServerRequest } from './server-request.ts'

const LIMITS = { bytesMax: 1 << 20, idleMs: 30_000, totalMs: 100_000 }
const MEGABYTE = 1 << 20

const get = (path = '/', ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'host: h', ...lines, '', ''].join('\r\n')
const post = (...lines: string[]) => ['POST / HTTP/1.1', 'host: h', ...lines, '', ''].join('\r\n')

/** Replies with a text, at once. */
const say = (text: string) => (request: ServerRequest) =>
  request.reply({ status: 200, headers: {}, body: text })
const replied = (text: string, ...lines: string[]) =>
  [
    'HTTP/1.1 200 OK',
    'date: Thu, 01 Jan 1970 00:00:00 GMT',
    ...lines,
    `content-length: ${text.length}`,
    '',
    text,
  ].join('\r\n')

/** A body in chunks of the sizes that are asked for. */
function inChunks(body: string, sizes: readonly number[]): string {
  let at = 0
  let text = ''
  for (const size of sizes) {
    const piece = body.slice(at, at + size)
    if (piece !== '') text += `${piece.length.toString(16)}\r\n${piece}\r\n`
    at += size
  }
  const rest = body.slice(at)
  return `${text}${rest === '' ? '' : `${rest.length.toString(16)}\r\n${rest}\r\n`}0\r\n\r\n`
}

describe('requests', () => {
  const request = fc.record({
    body: fc.string({ maxLength: 300 }).map(text => Buffer.from(text).toString('latin1')),
    isChunked: fc.boolean(),
    sizes: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }),
    isLate: fc.boolean(),
  })

  test('are the same however their bytes are cut, and are replied to in their order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 120 })),
        async (requests, cuts) => {
          let served = 0
          const play = playedConnection(request => {
            const { isLate } = requests[served++]!
            const answer = async () => {
              if (isLate) await turn()
              const { text } = await request.body(LIMITS)
              say(Buffer.from(text).toString('hex'))(request)
            }
            void answer()
          })
          const text = requests
            .map(({ body, isChunked, sizes }) =>
              isChunked
                ? post('transfer-encoding: chunked') + inChunks(body, sizes)
                : post(`content-length: ${body.length}`) + body,
            )
            .join('')

          let at = 0
          for (const cut of cuts) {
            play.send(text.slice(at, at + cut))
            at += cut
            if (at >= text.length) break
          }
          for (let turns = 0; turns < 2 * requests.length + 2; turns += 1) await turn()

          const replies = requests.map(({ body }) => replied(Buffer.from(body, 'latin1').toString('hex')))
          expect(play.sent).toBe(replies.join(''))
          expect(play.done).toEqual([])
        },
      ),
      { numRuns: 200 },
    )
  })

  test('are read byte by byte', async () => {
    const play = playedConnection()
    for (const byte of post('content-length: 3') + 'abc') play.send(byte)

    const [first] = play.requests
    expect(play.requests).toHaveLength(1)
    expect(await first!.request.body(LIMITS)).toEqual({ text: 'abc', byteLength: 3 })
  })

  test('that come before the reply wait for it, and no more is read than a little', () => {
    const play = playedConnection()
    play.send(get('/1') + get('/2'))
    play.send(get('/3', `x: ${'a'.repeat(30_000)}`))
    play.send(get('/4', `x: ${'a'.repeat(30_000)}`))
    play.send(get('/5', `x: ${'a'.repeat(30_000)}`))
    const before = [...play.done]

    for (let count = 0; count < 5; count += 1) say('x')(play.requests[count]!.request)

    expect(play.requests.map(({ request }) => request.path)).toEqual(['/1', '/2', '/3', '/4', '/5'])
    expect([before, play.done]).toEqual([['pause'], ['pause', 'resume']])
  })

  test('many at once that are replied to at once need no deep stack', () => {
    const play = playedConnection(say(''))

    play.send(get().repeat(20_000))

    expect(play.requests).toHaveLength(20_000)
  })

  test('may have an empty line before them', () => {
    const play = playedConnection(say('x'))

    play.send(`\r\n${get('/1')}`)
    play.send('\r')
    play.send(`\n${get('/2')}`)

    expect(play.sent).toBe(replied('x').repeat(2))
  })
})

describe('a body', () => {
  test('that is there with its head is given at once', () => {
    const play = playedConnection()
    play.send(`${post('content-length: 2')}hi`)

    expect(play.requests[0]!.request.body(LIMITS)).toEqual({ text: 'hi', byteLength: 2 })
  })

  test('has its text and its length in bytes, and is refused where it is none', async () => {
    const play = playedConnection()
    play.send(Buffer.from(`${post('content-length: 3')}\u20ac`))
    say('')(play.requests[0]!.request)
    play.send(`${post('content-length: 2')}\u00ff"`)
    say('')(play.requests[1]!.request)
    play.send(`${post('transfer-encoding: chunked')}1\r\n\u00ff\r\n0\r\n\r\n`)
    const [euro, whole, inChunks] = play.requests.map(({ request }) => request)

    expect(euro!.body(LIMITS)).toEqual({ text: '\u20ac', byteLength: 3 })
    expect(() => whole!.body(LIMITS)).toThrow('not UTF-8')
    expect(await rejection(Promise.resolve(inChunks!.body(LIMITS)))).toMatchObject({ code: 'invalid_json' })
  })

  test('that is declared over the limit is refused unread', () => {
    const play = playedConnection()
    play.send(post(`content-length: ${MEGABYTE + 1}`))

    expect(() => play.requests[0]!.request.body(LIMITS)).toThrow('over the limit of 1 MB')
  })

  test('that nobody has asked for is read ahead only a little', async () => {
    const play = playedConnection()
    play.send(post(`content-length: ${MEGABYTE}`))
    play.send(Buffer.alloc(60_000))
    const before = [...play.done]
    play.send(Buffer.alloc(60_000))
    const paused = [...play.done]

    const body = play.requests[0]!.request.body(LIMITS)
    play.send(Buffer.alloc(MEGABYTE - 120_000))

    expect([before, paused, play.done]).toEqual([[], ['pause'], ['pause', 'resume']])
    expect((await body).byteLength).toBe(MEGABYTE)
  })

  test.each<[string, string, number]>([
    ['never starts', '', 30],
    ['stops half-way', 'abc', 30],
  ])('that %s is cut when its pause is too long', async (_, sent, seconds) => {
    const play = playedConnection()
    play.send(post('content-length: 5') + sent)
    const body = Promise.resolve(play.requests[0]!.request.body(LIMITS))
    body.catch(() => undefined)

    play.pass(seconds)
    const before = await Promise.race([body, turn()])
    play.pass(1)

    expect(before).toBeUndefined()
    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
  })

  test('that comes slowly, and never stops for long, is read', async () => {
    const play = playedConnection()
    play.send(post('content-length: 100000'))
    const body = play.requests[0]!.request.body({ ...LIMITS, totalMs: 600_000 })

    for (let pieces = 0; pieces < 10; pieces += 1) {
      play.pass(20)
      play.send(Buffer.alloc(10_000))
    }

    expect((await body).byteLength).toBe(100_000)
  })

  test('that drips without a pause is cut when its whole time is over', async () => {
    const play = playedConnection()
    play.send(post('transfer-encoding: chunked'))
    const body = Promise.resolve(play.requests[0]!.request.body(LIMITS))
    body.catch(() => undefined)

    for (let drips = 0; drips < 4; drips += 1) {
      play.send('1\r\nx\r\n')
      play.pass(25)
    }
    const before = await Promise.race([body, turn()])
    play.pass(1)

    expect(before).toBeUndefined()
    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
  })

  test('whose client leaves fails whoever waits for it, and whoever asks for it later', async () => {
    for (const isEarly of [true, false]) {
      const play = playedConnection()
      play.send(`${post('content-length: 5')}abc`)
      const { request } = play.requests[0]!
      const early = isEarly ? Promise.resolve(request.body(LIMITS)) : undefined
      early?.catch(() => undefined)

      play.connection.onClose()

      const body = early ?? Promise.resolve(request.body(LIMITS))
      expect(await rejection(body)).toMatchObject({ message: expect.stringContaining('The client left') })
      expect(request.hasLeft).toBe(true)
      expect(request.signal.aborted).toBe(true)
    }
  })

  test('that a client waits with is called for when somebody asks for it', async () => {
    const play = playedConnection()
    play.send(post('content-length: 2', 'expect: 100-continue'))
    const before = play.sent

    const body = play.requests[0]!.request.body(LIMITS)
    const called = play.sent
    play.send('hi')

    expect([before, called]).toEqual(['', 'HTTP/1.1 100 Continue\r\n\r\n'])
    expect((await body).byteLength).toBe(2)
  })
})

describe('after a reply', () => {
  test('the connection serves again, also where the body was not asked for', () => {
    const play = playedConnection()
    play.send(`${post('content-length: 5')}ab`)
    say('1')(play.requests[0]!.request)
    play.send(`cde${get()}`)
    say('2')(play.requests[1]!.request)

    expect(play.sent).toBe(replied('1') + replied('2'))
    expect(play.done).toEqual([])
  })

  test.each<[string, string]>([
    ['more of a body is left than can be dropped', post(`content-length: ${5 * MEGABYTE}`)],
    ['nobody knows how much of a body is left', post('transfer-encoding: chunked')],
    ['the client may never send its body', post('content-length: 5', 'expect: 100-continue')],
    ['chunks cannot be told apart', `${post('transfer-encoding: chunked')}zz\r\n${get()}`],
  ])('where %s, the connection is no longer written to, and what comes is dropped', (_, text) => {
    const play = playedConnection()
    play.send(text)
    say('no')(play.requests[0]!.request)
    play.send(get())

    expect(play.sent).toBe(replied('no', 'connection: close'))
    expect(play.requests).toHaveLength(1)
    expect(play.done).toEqual(['shutdown'])
  })

  test('a client that goes on sending is cut in the end, by its bytes or by time', () => {
    for (const wears of ['bytes', 'time']) {
      const play = playedConnection(say('no'))
      play.send(post('transfer-encoding: chunked'))
      const much = Buffer.alloc(MEGABYTE)

      for (let count = 0; count < 64; count += 1) play.send(much)
      const before = [...play.done]
      if (wears === 'bytes') play.send('x')
      else play.pass(31)

      expect(before).toEqual(['shutdown'])
      expect(play.done).toEqual(['shutdown', 'closed', 'terminate'])
    }
  })

  test.each<[string, string]>([
    ['asks for it', get('/', 'connection: close')],
    ['speaks HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ])('the connection is closed where the client %s', (_, text) => {
    const play = playedConnection(say('x'))

    play.send(text)

    expect(play.sent).toBe(replied('x', 'connection: close'))
    expect(play.done).toEqual(['closed', 'end'])
  })

  test('the connection of an HTTP/1.0 client is kept where it asks for that', () => {
    const play = playedConnection(say('x'))

    play.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'.repeat(2))

    expect(play.sent).toBe(replied('x', 'connection: keep-alive').repeat(2))
  })

  test('the connection is closed where the server stops', () => {
    const play = playedConnection()
    play.send(get())
    play.isStopping = true

    say('x')(play.requests[0]!.request)

    expect(play.sent).toBe(replied('x', 'connection: close'))
    expect(play.done).toEqual(['closed', 'end'])
  })

  test('HEAD has its head alone', () => {
    const play = playedConnection(say('abc'))

    play.send(get().replace('GET', 'HEAD'))

    expect(play.sent).toBe(replied('abc').slice(0, -3))
  })

  test.each([204, 304])('%p has neither length nor body', status => {
    const play = playedConnection(request => request.reply({ status, headers: {}, body: null }))

    play.send(get())

    expect(play.sent).toEndWith('GMT\r\n\r\n')
  })

  test.each([204, 304])('%p is its head alone, also where a body was made for it', status => {
    let isCancelled = false
    const source = { read: () => Promise.resolve(undefined), cancel: () => void (isCancelled = true) }
    const bodies = ['abc', source]
    const play = playedConnection(request => request.reply({ status, headers: {}, body: bodies.shift()! }))

    play.send(get() + get())

    expect(play.sent.split('GMT\r\n\r\n').map(text => text.slice(0, 12))).toEqual([
      `HTTP/1.1 ${status}`,
      `HTTP/1.1 ${status}`,
      '',
    ])
    expect(isCancelled).toBe(true)
  })

  test('with a header that would be more than its line, nothing is sent, and another reply can be', () => {
    const play = playedConnection()
    play.send(get())
    const { request } = play.requests[0]!

    expect(() => request.reply({ status: 200, headers: { x: 'a\r\nb: c' }, body: '' })).toThrow()
    say('x')(request)

    expect(play.sent).toBe(replied('x'))
  })

  test.each<[string, (play: PlayedConnection) => void]>([
    ['closed', play => play.connection.onClose()],
    ['was cut', play => play.connection.cut()],
  ])('is dropped when the connection %s before it', (_, end) => {
    const play = playedConnection()
    play.send(get())

    end(play)
    say('x')(play.requests[0]!.request)

    expect(play.sent).toBe('')
    expect(play.done).toContain('closed')
  })

  test('that the kernel takes in parts, the next request has its turn when all is sent', async () => {
    const play = playedConnection()
    play.room = 10
    play.send(get('/1') + get('/2'))
    say('abc'.repeat(50_000))(play.requests[0]!.request)
    const before = play.requests.length
    play.drain(100_000)
    play.drain(Infinity)
    await turn()

    expect([before, play.requests.length]).toEqual([1, 2])
    expect(play.sent).toBe(replied('abc'.repeat(50_000)))
  })

  test('that the client does not take, it is cut in the end', () => {
    const play = playedConnection()
    play.room = 10
    play.send(get())
    say('abc')(play.requests[0]!.request)

    play.pass(600)
    play.drain(10)
    play.pass(600)
    const before = [...play.done]
    play.pass(1)

    expect([before, play.done]).toEqual([[], ['closed', 'terminate']])
  })

  test('that the client does not take, it is cut in the end, though it sends more of its own', () => {
    for (const rest of ['b', 'bcde']) {
      const play = playedConnection()
      play.room = 10
      play.send(`${post('content-length: 5')}a`)
      say('abc')(play.requests[0]!.request)

      play.pass(300)
      play.send(rest)
      play.pass(301)

      expect(play.done).toEqual(['closed', 'terminate'])
    }
  })
})

describe('a stream', () => {
  /** One that a test fills. */
  function aStream() {
    const pieces: (Uint8Array<ArrayBuffer> | undefined)[] = []
    let wake = () => {}
    const stream = {
      read: 0,
      isCancelled: false,
      put(text: string | undefined) {
        pieces.push(text === undefined ? undefined : new TextEncoder().encode(text))
        const waking = wake
        wake = () => {}
        waking()
      },
      source: {
        async read() {
          stream.read += 1
          if (pieces.length === 0) await new Promise<void>(resolve => (wake = resolve))
          return pieces.shift()
        },
        cancel: () => void (stream.isCancelled = true),
      },
    }
    return stream
  }

  const start = (...lines: string[]) =>
    ['HTTP/1.1 200 OK', 'date: Thu, 01 Jan 1970 00:00:00 GMT', ...lines, '', ''].join('\r\n')

  test('goes in chunks, its head with its first piece, and the connection serves again', async () => {
    const stream = aStream()
    const play = playedConnection()
    play.send(get('/1') + get('/2'))
    play.requests[0]!.request.reply({ status: 200, headers: {}, body: stream.source })
    await turn()
    const before = play.sent
    stream.put('hello')
    await turn()
    const first = play.sent
    stream.put('x'.repeat(70_000))
    stream.put(undefined)
    await turn()

    const head = start('transfer-encoding: chunked')
    expect([before, first]).toEqual(['', `${head}5\r\nhello\r\n`])
    expect(play.sent).toBe(`${first}11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`)
    expect(play.requests).toHaveLength(2)
  })

  test('without a piece is a head and its end', async () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))
    play.send(get())
    stream.put(undefined)
    await turn()

    expect(play.sent).toBe(`${start('transfer-encoding: chunked')}0\r\n\r\n`)
  })

  test('to an HTTP/1.0 client ends with the connection', async () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))
    play.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
    stream.put('hello')
    stream.put(undefined)
    await turn()

    expect(play.sent).toBe(`${start('connection: close')}hello`)
    expect(play.done).toEqual(['closed', 'end'])
  })

  test('is read no further than its client takes it', async () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))
    for (let count = 0; count < 10; count += 1) stream.put('hello')
    play.room = 150
    play.send(get())
    await turn()
    const stalled = stream.read
    await turn()
    const later = stream.read
    play.drain(Infinity)
    await turn()

    expect(later).toBe(stalled)
    // The seventh chunk is the one that was not taken whole.
    expect([stalled, stream.read]).toEqual([7, 11])
    expect(play.sent).toEndWith('5\r\nhello\r\n'.repeat(10))
  })

  test('whose client leaves is cancelled, while it is read, while it is sent, and before either', async () => {
    for (const when of ['read', 'sent', 'before']) {
      const stream = aStream()
      const play = playedConnection()
      play.send(get())
      const { request } = play.requests[0]!
      play.room = when === 'sent' ? 10 : Infinity
      if (when === 'before') play.connection.onClose()
      request.reply({ status: 200, headers: {}, body: stream.source })
      if (when === 'sent') stream.put('hello')
      await turn()
      const before = stream.isCancelled
      play.connection.onClose()
      await turn()

      expect([before, stream.isCancelled]).toEqual([when === 'before', true])
      expect(play.done).toEqual(['closed'])
    }
  })

  test('whose client takes nothing for long is cancelled, and the connection cut', async () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))
    play.room = 10
    play.send(get())
    stream.put('hello')
    await turn()

    play.pass(601)

    expect(stream.isCancelled).toBe(true)
    expect(play.done).toEqual(['closed', 'terminate'])
  })

  test('that waits for its next piece has all the time there is', async () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))
    play.send(get())
    stream.put('hello')
    await turn()

    play.pass(10_000)

    expect(play.done).toEqual([])
  })

  test('is not made for HEAD', () => {
    const stream = aStream()
    const play = playedConnection(request => request.reply({ status: 200, headers: {}, body: stream.source }))

    play.send(get().replace('GET', 'HEAD'))

    expect(play.sent).toBe(start('transfer-encoding: chunked'))
    expect(stream.isCancelled).toBe(true)
  })
})

describe('what is no request is refused at once, and nothing behind it is taken:', () => {
  test.each<[string, string, string]>([
    ['a head that is none', 'hello there\r\n\r\n', 'malformed_request'],
    ['a line without its carriage return', 'GET / HTTP/1.1\nhost: h\n', 'malformed_request'],
    ['a first byte that no method has', '\u0016\u0003\u0001', 'malformed_request'],
    ['a first word that is too long', 'A'.repeat(40), 'malformed_request'],
    ['a head that does not end', `GET / HTTP/1.1\r\nx: ${'a'.repeat(33_000)}`, 'headers_too_large'],
    ['a head that ends too late', get('/', `x: ${'a'.repeat(33_000)}`), 'headers_too_large'],
    ['too many fields', get('/', ...Array.from({ length: 200 }, () => 'x: y')), 'headers_too_large'],
  ])('%s', (_, text, code) => {
    for (const isCut of [false, true]) {
      const play = playedConnection(say('no'))

      for (const piece of isCut ? (text.match(/[^]{1,999}/g) ?? []) : [text]) play.send(piece)
      play.send(get())

      expect(play.requests).toMatchObject([{ refusal: { code } }])
      expect(play.sent).toBe(replied('no', 'connection: close'))
    }
  })

  test('a head that takes too long, however it drips', () => {
    const play = playedConnection(say('no'))

    play.send('GET / HTTP/1.1\r\n')
    for (let second = 0; second < 10; second += 1) {
      play.pass(1)
      play.send('x')
    }
    const before = play.requests.length
    play.pass(1)

    expect(before).toBe(0)
    expect(play.requests).toMatchObject([{ refusal: { code: 'headers_timeout' } }])
  })

  test('and a connection without a word is closed in the end', () => {
    const play = playedConnection(say('x'))
    play.send(get())

    play.pass(620)
    const before = [...play.done]
    play.pass(1)

    expect([before, play.done]).toEqual([[], ['closed', 'end']])
    expect(play.requests).toHaveLength(1)
  })
})
