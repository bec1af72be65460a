import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeCommands, RefusedCommand, ReplyReader, TOO_LONG, type Reply } from './resp.ts'

const VALUE_BYTES_MAX = 8

/** A reply, and its bytes as a server sends them. */
const anyReply: fc.Arbitrary<readonly [Reply, Buffer]> = fc.oneof(
  fc.stringMatching(/^[A-Z]{0,9}$/).map(text => [text, Buffer.from(`+${text}\r\n`)] as const),
  fc
    .stringMatching(/^[A-Z]{3,9}$/)
    .map(text => [new RefusedCommand(text), Buffer.from(`-${text}\r\n`)] as const),
  fc.integer().map(number => [number, Buffer.from(`:${number}\r\n`)] as const),
  fc.constant([null, Buffer.from('$-1\r\n')] as const),
  // Values have any bytes, also ends of lines.
  fc
    .uint8Array({ maxLength: 2 * VALUE_BYTES_MAX })
    .map(
      value =>
        [
          value.length > VALUE_BYTES_MAX ? TOO_LONG : value,
          Buffer.concat([Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')]),
        ] as const,
    ),
)

const aReader = () => new ReplyReader({ valueBytesMax: VALUE_BYTES_MAX })

describe('replies', () => {
  test('replies are read the same in whatever pieces they come', () => {
    fc.assert(
      fc.property(fc.array(anyReply), fc.infiniteStream(fc.integer({ min: 1, max: 12 })), (sent, lengths) => {
        const bytes = Buffer.concat(sent.map(([, encoded]) => encoded))
        const reader = aReader()
        const read: Reply[] = []

        for (let at = 0; at < bytes.length;) {
          const length = lengths.next().value as number
          read.push(...reader.read(bytes.subarray(at, at + length)))
          at += length
        }

        expect(read).toEqual(sent.map(([reply]) => reply))
      }),
    )
  })

  test('a reply keeps none of the memory of the piece that it came in', () => {
    const [value] = aReader().read(Buffer.concat([Buffer.from('$2\r\nab\r\n'), Buffer.alloc(4000, '+')]))

    expect((value as Uint8Array).buffer.byteLength).toBe(2)
  })

  test.each(['*1\r\n', 'HTTP/1.1 400 Bad Request\r\n', ':1e9\r\n', '$-2\r\n', '$99999999999\r\n', '\r\n'])(
    'the line %p is not of a Redis server',
    line => {
      expect(() => aReader().read(Buffer.from(line))).toThrow('The server does not speak')
    },
  )

  test('a line without an end is refused before it fills the memory', () => {
    const reader = aReader()
    reader.read(Buffer.from('+'))

    expect(() => reader.read(Buffer.alloc(5000, 'x'))).toThrow('a line that is too long')
  })
})

test('a command is sent with the number of its bytes, and no argument can end it', () => {
  const bytes = encodeCommands([['SET', 'kéy', Uint8Array.of(13, 10)], ['PING']])

  expect(bytes.toString('latin1')).toBe(
    `*3\r\n$3\r\nSET\r\n$4\r\n${Buffer.from('kéy').toString('latin1')}\r\n$2\r\n\r\n\r\n*1\r\n$4\r\nPING\r\n`,
  )
})
