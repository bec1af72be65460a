import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { utf8Text } from './utf8-text.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

test.each([
  ['plain', 'abc'],
  ['with a byte order mark', '\uFEFF{}'],
  ['with a replacement character', 'a\uFFFDb'],
  ['with characters of one to four bytes', 'aé€😀'],
  ['empty', ''],
])('a text is decoded: %s', (_, text) => {
  expect(utf8Text(Buffer.from(`..${text}.`), 2, Buffer.byteLength(text) + 2)).toBe(text)
})

test.each([[[0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0xaf]], [[0xf5, 0x80, 0x80, 0x80]]])(
  'the bytes %p are rejected',
  bytes => {
    expect(utf8Text(Buffer.from([65, ...bytes, 66]), 0, bytes.length + 2)).toBeUndefined()
  },
)

test('any bytes are decoded as a strict decoder does', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }).map(text => Buffer.from(text)),
    fc.uint8Array({ maxLength: 4 }).map(bytes => Buffer.from(bytes)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), pieces => {
      const bytes = Buffer.concat(pieces)
      expect(utf8Text(bytes, 0, bytes.length)).toBe(decoded(bytes) as string)
    }),
  )
})
