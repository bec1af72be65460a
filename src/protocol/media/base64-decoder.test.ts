import { Buffer } from 'node:buffer'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Base64Decoder } from './base64-decoder.ts'

/** Decodes a text in pieces of the given lengths; undefined for one that is not base64. */
function decode(text: string, lengths: readonly number[] = [text.length]): Buffer | undefined {
  const source = Buffer.from(text, 'latin1')
  const decoder = new Base64Decoder()
  const parts: Uint8Array[] = []
  let from = 0
  for (const length of [...lengths, source.length]) {
    const to = Math.min(source.length, from + length)
    const out = new Uint8Array(Base64Decoder.roomFor(to - from))
    parts.push(out.subarray(0, decoder.push(source, from, to, out, 0)))
    from = to
  }
  const out = new Uint8Array(Base64Decoder.roomFor(0))
  parts.push(out.subarray(0, decoder.finish(out, 0)))
  return decoder.isInvalid ? undefined : Buffer.concat(parts)
}

const spaced = fc.array(fc.constantFrom('', '', '', ' ', '\n', '\r\n', '\t'), {
  minLength: 120,
  maxLength: 120,
})

test('bytes are decoded in either alphabet, with spaces, padded or not, however the text is cut', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 80 }),
      fc.constantFrom('base64', 'base64url'),
      spaced,
      fc.array(fc.nat(20)),
      (bytes, alphabet, spaces, lengths) => {
        const text = Array.from(
          Buffer.from(bytes).toString(alphabet),
          (char, index) => char + (spaces[index] ?? ''),
        ).join('')

        expect(decode(text, lengths)).toEqual(Buffer.from(bytes))
        expect(decode(text)).toEqual(Buffer.from(bytes))
      },
    ),
    { numRuns: 500 },
  )
})

test('a text in pieces of any size is base64 exactly if the runtime decodes it', () => {
  const chars = fc.constantFrom('A', 'b', '9', '+', '/', '=', ' ', '\n', '!', '\0', '\xff')
  fc.assert(
    fc.property(fc.array(chars, { maxLength: 12 }), fc.array(fc.nat(6)), (parts, lengths) => {
      const text = parts.join('')
      let expected: Buffer | undefined
      try {
        expected = Buffer.from(Uint8Array.fromBase64(text))
      } catch {
        expected = undefined
      }

      expect(decode(text)).toEqual(expected)
      expect(decode(text, lengths)).toEqual(expected)
    }),
    { numRuns: 3000 },
  )
})

test('a long text is decoded like a short one, with a surprise anywhere in it', () => {
  const surprises = ['', '\n', '=', '-', '!', '\x80', '\xff', 'A']
  const bytes = Uint8Array.from({ length: 9000 }, (_, index) => (index * 7919) >> 3)
  const plain = bytes.toBase64()
  fc.assert(
    fc.property(
      fc.constantFrom(...surprises),
      fc.nat(plain.length),
      fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 6 }),
      (surprise, place, lengths) => {
        const text = plain.slice(0, place) + surprise + plain.slice(place)
        // So short that they are looked at one by one.
        const slowly = decode(
          text,
          Array.from({ length: text.length / 500 }, () => 500),
        )

        expect(decode(text)).toEqual(slowly)
        expect(decode(text, lengths)).toEqual(slowly)
        if (surprise === '') expect(slowly).toEqual(Buffer.from(bytes))
      },
    ),
  )
})
