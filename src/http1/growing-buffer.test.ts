import { expect, test } from 'bun:test'
import { GrowingBuffer } from './growing-buffer.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

test.each([0, 1, 4095, 4096, 4097, 100_000])('%p bytes are collected in a buffer of their size', length => {
  for (const expected of [length, Infinity]) {
    const sent = new Uint8Array(length).map((_, index) => index)
    const buffer = new GrowingBuffer(expected)
    for (let at = 0; at < length; at += 1000) buffer.append(sent.subarray(at, at + 1000))

    const taken = buffer.take()

    expect(taken.buffer.byteLength).toBe(length)
    expect(Buffer.compare(taken, sent)).toBe(0)
  }
})

test('bytes are taken once, and more can follow', () => {
  const buffer = new GrowingBuffer(3)
  buffer.append(bytesOf('ab'))

  expect(buffer.length).toBe(2)
  expect(buffer.take()).toEqual(bytesOf('ab'))
  expect(buffer.length).toBe(0)
  buffer.append(bytesOf('cdef'))
  expect(buffer.take()).toEqual(bytesOf('cdef'))
})

test('small pieces are not kept one by one', () => {
  const buffer = new GrowingBuffer()
  const pieces: WeakRef<Uint8Array>[] = []
  for (let count = 0; count < 2000; count += 1) {
    const piece = new Uint8Array(1)
    pieces.push(new WeakRef(piece))
    buffer.append(piece)
  }

  Bun.gc(true)

  expect(buffer.length).toBe(2000)
  expect(pieces.filter(piece => piece.deref() !== undefined).length).toBeLessThan(100)
})
