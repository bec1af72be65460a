import { describe, expect, test } from 'bun:test'
import { ChunkedBody } from './chunked-body.ts'

/** The state after the bytes came at once, and one by one. */
function statesOf(wire: string): readonly ChunkedBody['state'][] {
  const whole = new ChunkedBody()
  whole.feed(Buffer.from(wire, 'latin1'), 0)
  const bytewise = new ChunkedBody()
  for (const byte of Buffer.from(wire, 'latin1')) bytewise.feed(Buffer.from([byte]), 0)
  return [whole.state, bytewise.state]
}

describe('a chunked body is complete', () => {
  test.each([
    ['without chunks', '0\r\n\r\n'],
    ['with sizes in both cases and leading zeros', '0a\r\n0123456789\r\n0A\r\n0123456789\r\n000\r\n\r\n'],
    ['with extensions', '1;a=b;c="d e";f\r\nx\r\n0;g\r\n\r\n'],
    ['with an empty extension', '1;\r\nx\r\n0\r\n\r\n'],
    ['with trailers', '1\r\nx\r\n0\r\nx-sum: 1\r\nX-Empty:\r\n\r\n'],
  ])('a chunked body is complete %s', (_, wire) => {
    expect(statesOf(wire)).toEqual(['complete', 'complete'])
  })
})

describe('a chunked body is malformed', () => {
  test.each([
    ['with a space before the size', ' 1\r\nx\r\n0\r\n\r\n'],
    ['with a space behind the size', '1 \r\nx\r\n0\r\n\r\n'],
    ['with a tab behind the size', '1\t\r\nx\r\n0\r\n\r\n'],
    ['with a space before an extension', '1 ;a\r\nx\r\n0\r\n\r\n'],
    ['with a space behind the last size', '0 \r\n\r\n'],
    ['with a sign', '+1\r\nx\r\n0\r\n\r\n'],
    ['with a prefix', '0x1\r\nx\r\n0\r\n\r\n'],
    ['with an underscore', '1_0\r\nx\r\n0\r\n\r\n'],
    ['without a size', '\r\nx\r\n0\r\n\r\n'],
    ['with a size of 13 digits', '1000000000000\r\n'],
    ['with a NUL in an extension', '1;a\u0000\r\nx\r\n0\r\n\r\n'],
    ['with a bare carriage return in an extension', '1;a\rb\r\nx\r\n0\r\n\r\n'],
    ['with a DEL in an extension', '1;\u007f\r\nx\r\n0\r\n\r\n'],
    ['with a bare line feed behind the size', '1\nx\r\n0\r\n\r\n'],
    ['with a chunk longer than its size', '1\r\nxy\r\n0\r\n\r\n'],
    ['with a trailer without a colon', '0\r\nx\r\n\r\n'],
    ['with a trailer without a name', '0\r\n: x\r\n\r\n'],
    ['with a space before the colon of a trailer', '0\r\nx : y\r\n\r\n'],
    ['with a folded trailer', '0\r\nx: y\r\n z\r\n\r\n'],
    ['with a NUL in a trailer', '0\r\nx: \u0000\r\n\r\n'],
    ['with a bare line feed in a trailer', '0\r\nx: y\nz: a\r\n\r\n'],
    ['with a request in its trailers', '0\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n'],
  ])('a chunked body is malformed %s', (_, wire) => {
    expect(statesOf(wire)).toEqual(['malformed', 'malformed'])
  })
})
