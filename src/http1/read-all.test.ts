import { expect, test } from 'bun:test'
import { readAll } from './read-all.ts'

function streamOf(...pieces: readonly string[]) {
  const left = pieces.map(piece => new Uint8Array(Buffer.from(piece)))
  return { read: async () => left.shift(), left }
}

test.each([
  ['nothing', []],
  ['one piece', ['abc']],
  ['many pieces', ['a', 'bcd', 'e', 'fghijklmnop', 'q']],
])('%s is read whole', async (_, pieces) => {
  const whole = await readAll(streamOf(...pieces), 17)

  expect(whole?.toString()).toBe(pieces.join(''))
})

test('a stream that is too long is read no further', async () => {
  const stream = streamOf('abc', 'def', 'ghi')

  expect(await readAll(stream, 5)).toBeUndefined()
  expect(stream.left).toHaveLength(1)
})

test('the pieces themselves stay as they are', async () => {
  const first = new Uint8Array(Buffer.from('abc'))
  const pieces = [first, new Uint8Array(Buffer.from('def'))]

  await readAll({ read: async () => pieces.shift() }, 100)

  expect(Buffer.from(first.buffer).toString()).toBe('abc')
})
