import { describe, expect, test } from 'bun:test'
import { rejection } from '../../../test/support/rejection.ts'
import { RequestBody } from './request-body.ts'

const BYTES_MAX = 100_000

const text = async (bytes: Promise<Uint8Array>) => new TextDecoder().decode(await bytes)

describe('a body', () => {
  test('that comes in pieces is put together', async () => {
    const body = new RequestBody(7)
    body.feed(Buffer.from('{"a'), 0)
    const read = body.read(BYTES_MAX)

    const end = body.feed(Buffer.from('..":1}next'), 2)

    expect(await text(read)).toBe('{"a":1}')
    expect(end).toBe(6)
    expect(body.isComing).toBe(false)
  })

  test('in chunks ends with its trailers', async () => {
    const body = new RequestBody('chunked')
    const read = body.read(BYTES_MAX)

    const end = body.feed(Buffer.from('3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\nx-sum: 1\r\n\r\nnext'), 0)

    expect(await text(read)).toBe('{"a":1}')
    expect(end).toBe(36)
  })

  test.each([0, 1, 65_535, 65_536, 65_537, 99_999, 100_000])(
    'of %p bytes is whole, and takes no more room',
    async length => {
      const sent = Buffer.from(crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536))))
      const rest = Buffer.alloc(length - sent.length, 7)
      const whole = Buffer.concat([sent, rest])
      for (const framing of [length, 'chunked'] as const) {
        const body = new RequestBody(framing)
        const read = body.read(BYTES_MAX)
        for (const piece of [sent, rest]) body.feed(framing === 'chunked' ? chunk(piece) : piece, 0)
        if (framing === 'chunked') body.feed(Buffer.from('0\r\n\r\n'), 0)

        const bytes = await read

        expect(bytes.buffer.byteLength).toBe(length)
        expect(whole.equals(bytes)).toBe(true)
      }
    },
  )

  test('that passes the limit is cut there, asked for before or after', async () => {
    const early = new RequestBody('chunked')
    const read = early.read(BYTES_MAX)
    read.catch(() => undefined)
    early.feed(chunk(Buffer.alloc(BYTES_MAX)), 0)
    early.feed(chunk(Buffer.alloc(1)), 0)
    const late = new RequestBody('chunked')
    late.feed(chunk(Buffer.alloc(BYTES_MAX + 1)), 0)

    expect(await rejection(read)).toMatchObject({ code: 'request_too_large' })
    expect(await rejection(late.read(BYTES_MAX))).toMatchObject({ code: 'request_too_large' })
  })

  test('of no readable chunks is refused, asked for before or after', async () => {
    const early = new RequestBody('chunked')
    const read = early.read(BYTES_MAX)
    read.catch(() => undefined)
    early.feed(Buffer.from('zz\r\n'), 0)
    const late = new RequestBody('chunked')
    late.feed(Buffer.from('1\r\nab\r\n'), 0)

    expect(await rejection(read)).toMatchObject({ code: 'malformed_request' })
    expect(await rejection(late.read(BYTES_MAX))).toMatchObject({ code: 'malformed_request' })
    expect([early.isBroken, late.isBroken]).toEqual([true, true])
  })

  test('that fails before anybody asks for it fails whoever asks', async () => {
    const body = new RequestBody(10)
    body.fail(new Error('The client left.'))
    body.feed(Buffer.alloc(10), 0)

    expect(await rejection(body.read(BYTES_MAX))).toMatchObject({ message: 'The client left.' })
  })

  test('in very small pieces weighs no more than its bytes', () => {
    const body = new RequestBody('chunked')
    const pieces: WeakRef<Buffer>[] = []
    for (let count = 0; count < 2000; count += 1) {
      const piece = chunk(Buffer.from('x'))
      pieces.push(new WeakRef(piece))
      body.feed(piece, 0)
    }

    Bun.gc(true)

    expect(body.unasked).toBe(2000)
    expect(pieces.filter(piece => piece.deref() !== undefined).length).toBeLessThan(100)
  })
})

function chunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
