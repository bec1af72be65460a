import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunkedBody, getRequest, postHead, responseText } from '../testing/http-text.ts'
import { fakeConnection, type FakeConnection } from '../testing/fake-connection.ts'
import { turn } from '../testing/turn.ts'
import type { ServerRequest } from './server-request.ts'

const LIMITS = { bytesMax: 1 << 20, idleMs: 30_000, totalMs: 100_000 }
const MEGABYTE = 1 << 20

const respondWith = (text: string) => (request: ServerRequest) =>
  request.respond({ status: 200, headers: {}, body: text })

describe('requests', () => {
  const request = fc.record({
    body: fc.string({ maxLength: 300 }).map(text => Buffer.from(text).toString('latin1')),
    isChunked: fc.boolean(),
    sizes: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }),
    isLate: fc.boolean(),
  })

  test('requests are read the same however their bytes are cut, and answered in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 120 })),
        async (requests, cuts) => {
          let served = 0
          const fake = fakeConnection(request => {
            const { isLate } = requests[served++]!
            const answer = async () => {
              if (isLate) await turn()
              const { text } = await request.text(LIMITS)
              respondWith(Buffer.from(text).toString('hex'))(request)
            }
            void answer()
          })
          const text = requests
            .map(({ body, isChunked, sizes }) =>
              isChunked
                ? postHead('transfer-encoding: chunked') + chunkedBody(body, sizes)
                : postHead(`content-length: ${body.length}`) + body,
            )
            .join('')

          let at = 0
          for (const cut of cuts) {
            fake.send(text.slice(at, at + cut))
            at += cut
            if (at >= text.length) break
          }
          for (let turns = 0; turns < 2 * requests.length + 2; turns += 1) await turn()

          const responses = requests.map(({ body }) =>
            responseText(Buffer.from(body, 'latin1').toString('hex')),
          )
          expect(fake.sent).toBe(responses.join(''))
          expect(fake.done).toEqual([])
        },
      ),
      { numRuns: 200 },
    )
  })

  test('requests are read byte by byte', async () => {
    const fake = fakeConnection()

    for (const byte of `${postHead('content-length: 3')}abc`) fake.send(byte)

    const [first] = fake.requests
    expect(fake.requests).toHaveLength(1)
    expect(await first!.request.text(LIMITS)).toEqual({ text: 'abc', byteLength: 3 })
  })

  test('requests that arrive before the response wait for it, and only a few are received', async () => {
    const fake = fakeConnection()
    fake.send(getRequest('/1') + getRequest('/2'))
    fake.send(getRequest('/3', `x: ${'a'.repeat(30_000)}`))
    fake.send(getRequest('/4', `x: ${'a'.repeat(30_000)}`))
    fake.send(getRequest('/5', `x: ${'a'.repeat(30_000)}`))
    const before = [...fake.done]

    for (let count = 0; count < 5; count += 1) {
      respondWith('x')(fake.requests[count]!.request)
      await turn()
    }

    expect(fake.requests.map(({ request }) => request.path)).toEqual(['/1', '/2', '/3', '/4', '/5'])
    expect([before, fake.done]).toEqual([['pause'], ['pause', 'resume']])
  })

  test('requests can be pipelined by the thousand without a deep stack', async () => {
    const fake = fakeConnection(respondWith(''))

    fake.send(getRequest().repeat(20_000))
    await turn()

    expect(fake.requests).toHaveLength(20_000)
  })

  test('requests can have an empty line before them', async () => {
    const fake = fakeConnection(respondWith('x'))

    fake.send(`\r\n${getRequest('/1')}`)
    await turn()
    fake.send('\r')
    fake.send(`\n${getRequest('/2')}`)

    expect(fake.sent).toBe(responseText('x').repeat(2))
  })

  test.each([[['\r\n\r\n']], [['\r\n', '\r\n']], [['\r', '\n\r', '\n']]])(
    'requests cannot have two empty lines before them: %j',
    async pieces => {
      const fake = fakeConnection(respondWith('x'))

      for (const piece of pieces) fake.send(piece)
      fake.send(getRequest('/1'))
      await turn()

      expect(fake.requests).toMatchObject([{ refusal: { code: 'malformed_request' } }])
    },
  )

  test.each<[string, string]>([
    ['the rest of the body is too large to discard', postHead(`content-length: ${5 * MEGABYTE}`)],
    ['the rest of the body has an unknown length', postHead('transfer-encoding: chunked')],
    ['the client may never send its body', postHead('content-length: 5', 'expect: 100-continue')],
    ['a chunk is malformed', `${postHead('transfer-encoding: chunked')}zz\r\n${getRequest()}`],
  ])('the connection ends and drops what arrives if %s', async (_, text) => {
    const fake = fakeConnection()
    fake.send(text)
    respondWith('no')(fake.requests[0]!.request)
    await turn()
    fake.send(getRequest())

    expect(fake.sent).toBe(responseText('no', 'connection: close'))
    expect(fake.requests).toHaveLength(1)
    expect(fake.done).toEqual(['shutdown'])
  })

  test.each(['bytes', 'time'])(
    'a client that does not stop sending is cut at the limit of %s',
    async limit => {
      const fake = fakeConnection(respondWith('no'))
      fake.send(postHead('transfer-encoding: chunked'))
      await turn()

      const piece = Buffer.alloc(MEGABYTE)
      for (let count = 0; count < 1024; count += 1) fake.send(piece)
      const before = [...fake.done]
      if (limit === 'bytes') fake.send('x')
      else fake.pass(31)

      expect(before).toEqual(['shutdown'])
      expect(fake.done).toEqual(['shutdown', 'closed', 'terminate'])
    },
  )

  test('a client that does not send the rest of its body is cut', async () => {
    const fake = fakeConnection(respondWith('no'))
    fake.send(`${postHead('content-length: 5')}ab`)
    await turn()

    fake.pass(30)
    const before = [...fake.done]
    fake.pass(1)

    expect([before, fake.done]).toEqual([[], ['closed', 'terminate']])
  })

  test.each<[string, string]>([
    ['asks for it', getRequest('/', 'connection: close')],
    ['uses HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ])('the connection is closed if the client %s', async (_, text) => {
    const fake = fakeConnection(respondWith('x'))

    fake.send(text)
    await turn()

    expect(fake.sent).toBe(responseText('x', 'connection: close'))
    expect(fake.done).toEqual(['closed', 'end'])
  })

  test('the connection of an HTTP/1.0 client is kept if it asks for that', async () => {
    const fake = fakeConnection(respondWith('x'))

    fake.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'.repeat(2))
    await turn()

    expect(fake.sent).toBe(responseText('x', 'connection: keep-alive').repeat(2))
  })

  test('the connection is closed if the server stops', async () => {
    const fake = fakeConnection()
    fake.send(getRequest())
    fake.isStopping = true

    respondWith('x')(fake.requests[0]!.request)
    await turn()

    expect(fake.sent).toBe(responseText('x', 'connection: close'))
    expect(fake.done).toEqual(['closed', 'end'])
  })

  test('the limit of an idle connection can be set', () => {
    const fake = fakeConnection(respondWith('x'), { idleMs: 5000 })

    fake.pass(5)
    const before = [...fake.done]
    fake.pass(1)

    expect([before, fake.done]).toEqual([[], ['closed', 'end']])
  })

  test('the limit of a head can be set', () => {
    const fake = fakeConnection(respondWith('x'), { headMs: 2000 })
    fake.send('GET / HTTP/1.1\r\n')

    fake.pass(2)
    const before = fake.requests.length
    fake.pass(1)

    expect(before).toBe(0)
    expect(fake.requests[0]?.refusal).toMatchObject({ code: 'headers_timeout' })
  })

  test('the limit of a client that takes nothing can be set', async () => {
    const fake = fakeConnection(respondWith('x'.repeat(1000)), { writeMs: 3000 })
    fake.room = 10
    fake.send(getRequest())
    await turn()

    fake.pass(3)
    const before = [...fake.done]
    fake.pass(1)

    expect(before).not.toContain('closed')
    expect(fake.done).toContain('closed')
  })

  test('an idle connection is closed', async () => {
    const fake = fakeConnection(respondWith('x'))
    fake.send(getRequest())
    await turn()

    fake.pass(620)
    const before = [...fake.done]
    fake.pass(1)

    expect([before, fake.done]).toEqual([[], ['closed', 'end']])
    expect(fake.requests).toHaveLength(1)
  })
})

describe('a response', () => {
  test('a response to HEAD has no body', () => {
    const fake = fakeConnection(respondWith('abc'))

    fake.send(getRequest().replace('GET', 'HEAD'))

    expect(fake.sent).toBe(responseText('abc').slice(0, -3))
  })

  test.each([204, 304])('a response with status %p has neither length nor body', status => {
    const fake = fakeConnection(request => request.respond({ status, headers: {}, body: null }))

    fake.send(getRequest())

    expect(fake.sent).toEndWith('GMT\r\n\r\n')
  })

  test.each([204, 304])('a response with status %p does not send a body that it was given', async status => {
    let isCancelled = false
    const stream = { read: () => Promise.resolve(undefined), cancel: () => void (isCancelled = true) }
    const bodies = ['abc', stream]
    const fake = fakeConnection(request => request.respond({ status, headers: {}, body: bodies.shift()! }))

    fake.send(getRequest() + getRequest())
    await turn()

    expect(fake.sent.split('GMT\r\n\r\n').map(text => text.slice(0, 12))).toEqual([
      `HTTP/1.1 ${status}`,
      `HTTP/1.1 ${status}`,
      '',
    ])
    expect(isCancelled).toBe(true)
  })

  test('a response with an invalid header is not sent, and another one can be', () => {
    const fake = fakeConnection()
    fake.send(getRequest())
    const { request } = fake.requests[0]!

    expect(() => request.respond({ status: 200, headers: { x: 'a\r\nb: c' }, body: '' })).toThrow()
    respondWith('x')(request)

    expect(fake.sent).toBe(responseText('x'))
  })

  test('a response is sent once', () => {
    const fake = fakeConnection()
    fake.send(getRequest())
    const { request } = fake.requests[0]!

    respondWith('x')(request)
    respondWith('y')(request)

    expect(fake.sent).toBe(responseText('x'))
  })

  test.each<[string, (fake: FakeConnection) => void]>([
    ['closed', fake => fake.connection.onClose()],
    ['cut', fake => fake.connection.cut()],
  ])('a response is dropped after the connection was %s', (_, end) => {
    const fake = fakeConnection()
    fake.send(getRequest())

    end(fake)
    respondWith('x')(fake.requests[0]!.request)

    expect(fake.sent).toBe('')
    expect(fake.done).toContain('closed')
  })

  test('a response that the kernel takes in parts delays the next request until all of it is taken', async () => {
    const fake = fakeConnection()
    fake.room = 10
    fake.send(getRequest('/1') + getRequest('/2'))
    respondWith('abc'.repeat(50_000))(fake.requests[0]!.request)
    await turn()
    const before = fake.requests.length
    fake.drain(100_000)
    fake.drain(Infinity)
    await turn()

    expect([before, fake.requests.length]).toEqual([1, 2])
    expect(fake.sent).toBe(responseText('abc'.repeat(50_000)))
  })

  test('a response that the client does not take in time ends the connection', () => {
    const fake = fakeConnection()
    fake.room = 10
    fake.send(getRequest())
    respondWith('abc')(fake.requests[0]!.request)

    fake.pass(600)
    fake.drain(10)
    fake.pass(600)
    const before = [...fake.done]
    fake.pass(1)

    expect([before, fake.done]).toEqual([[], ['closed', 'terminate']])
  })

  test.each(['b', 'bcde'])(
    'a response that the client does not take in time ends the connection, even if it sends %p',
    rest => {
      const fake = fakeConnection()
      fake.room = 10
      fake.send(`${postHead('content-length: 5')}a`)
      respondWith('abc')(fake.requests[0]!.request)

      fake.pass(300)
      fake.send(rest)
      fake.pass(301)

      expect(fake.done).toEqual(['closed', 'terminate'])
    },
  )
})

describe('a request is refused at once, and the connection ends, for', () => {
  test.each<[string, string, string]>([
    ['a malformed head', 'hello there\r\n\r\n', 'malformed_request'],
    ['a line without a carriage return', 'GET / HTTP/1.1\nhost: h\n', 'malformed_request'],
    ['a first byte that no method has', '\u0016\u0003\u0001', 'malformed_request'],
    ['a method that is too long', 'A'.repeat(40), 'malformed_request'],
    ['a head without an end', `GET / HTTP/1.1\r\nx: ${'a'.repeat(33_000)}`, 'headers_too_large'],
    ['a head that is too long', getRequest('/', `x: ${'a'.repeat(33_000)}`), 'headers_too_large'],
    ['too many fields', getRequest('/', ...Array.from({ length: 200 }, () => 'x: y')), 'headers_too_large'],
  ])('a request is refused at once, and the connection ends, for %s', async (_, text, code) => {
    for (const isCut of [false, true]) {
      const fake = fakeConnection(respondWith('no'))

      for (const piece of isCut ? (text.match(/[^]{1,999}/g) ?? []) : [text]) fake.send(piece)
      await turn()
      fake.send(getRequest())

      expect(fake.requests).toMatchObject([{ refusal: { code } }])
      expect(fake.sent).toBe(responseText('no', 'connection: close'))
    }
  })

  test('a request is refused at once, and the connection ends, for a head that takes too long, even if it never pauses', () => {
    const fake = fakeConnection(respondWith('no'))

    fake.send('GET / HTTP/1.1\r\n')
    for (let second = 0; second < 10; second += 1) {
      fake.pass(1)
      fake.send('x')
    }
    const before = fake.requests.length
    fake.pass(1)

    expect(before).toBe(0)
    expect(fake.requests).toMatchObject([{ refusal: { code: 'headers_timeout' } }])
  })
})
