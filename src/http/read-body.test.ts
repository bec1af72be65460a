import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { rejection } from '../../test/support/rejection.ts'
import { turn } from '../../test/support/turn.ts'
import { readBody } from './read-body.ts'

const LIMITS = { bytesMax: 100_000, idleMs: 30_000, totalMs: 100_000 }

/** A request whose body is given piece by piece, and what its reading comes to. */
function anUpload(headers: Record<string, string> = {}) {
  const clock = fakeClock()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const request = new Request('http://gateway/', { method: 'POST', headers, body: readable })
  const body = readBody(request, LIMITS, clock)
  body.catch(() => undefined)
  return { clock, writer, body }
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe('a body', () => {
  test('that comes in pieces is put together', async () => {
    const { writer, body, clock } = anUpload()

    await writer.write(bytes('{"a":'))
    await writer.write(bytes('1}'))
    await writer.close()

    expect(new TextDecoder().decode(await body)).toBe('{"a":1}')
    expect(clock.waiting).toBe(0)
  })

  test.each([0, 1, 65_535, 65_536, 65_537, 99_999, 100_000])('of %p bytes is whole', async length => {
    const { writer, body } = anUpload()
    const sent = crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536)))
    const rest = new Uint8Array(length - sent.length).fill(7)

    for (const piece of [sent, rest]) if (piece.length > 0) await writer.write(piece)
    await writer.close()

    const read = await body
    expect(read.length).toBe(length)
    expect(read.buffer.byteLength).toBe(length)
    expect(Buffer.compare(read, Buffer.concat([sent, rest]))).toBe(0)
  })

  test('that drips without a pause is cut when its whole time is over', async () => {
    const { writer, body, clock } = anUpload()
    for (let drops = 0; drops < 4; drops += 1) {
      await writer.write(bytes(' '))
      await turn()
      clock.advance(24_999)
    }
    await writer.write(bytes(' '))
    await turn()
    const before = clock.waiting

    clock.advance(4)

    expect(before).toBe(1)
    expect(await rejection(body)).toMatchObject({ code: 'body_timeout' })
    expect(clock.waiting).toBe(0)
  })

  test('that passes the limit is cut there', async () => {
    const { writer, body, clock } = anUpload()
    await writer.write(new Uint8Array(100_000))
    writer.write(new Uint8Array(1)).catch(() => undefined)

    expect(await rejection(body)).toMatchObject({ code: 'request_too_large' })
    expect(clock.waiting).toBe(0)
  })

  test('that declares more than the limit is refused unread', async () => {
    const { body, clock } = anUpload({ 'content-length': '100001' })

    expect(await rejection(body)).toMatchObject({ code: 'request_too_large' })
    expect(clock.waiting).toBe(0)
  })

  test('in very small pieces weighs no more than its bytes', async () => {
    const { writer, body } = anUpload()
    const pieces: WeakRef<Uint8Array>[] = []
    for (let count = 0; count < 2000; count += 1) {
      const piece = bytes('x')
      pieces.push(new WeakRef(piece))
      await writer.write(piece)
    }
    await turn()

    Bun.gc(true)
    const kept = pieces.filter(piece => piece.deref() !== undefined).length
    await writer.close()

    expect((await body).length).toBe(2000)
    expect(kept).toBeLessThan(100)
  })
})
