import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ResponseReader, type Progress } from './response-reader.ts'

const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

type Framed = { readonly wire: string; readonly body: string }

const token = fc.stringMatching(/^[a-z]{1,12}$/)
const text = fc.string({ unit: 'grapheme-ascii', maxLength: 40 })

const withLength = text.map((body): Framed => ({
  wire: `${JSON_HEAD}content-length: ${body.length}\r\n\r\n${body}`,
  body,
}))
const chunk = fc.record({
  content: fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
  extension: fc.option(token),
})
const inChunks = fc
  .record({ chunks: fc.array(chunk), trailers: fc.array(token) })
  .map(({ chunks, trailers }): Framed => ({
    wire: [
      `${JSON_HEAD}Transfer-Encoding: Chunked\r\n\r\n`,
      ...chunks.map(({ content, extension }) => {
        const length = content.length.toString(16)
        return `${length}${extension === null ? '' : `;${extension}`}\r\n${content}\r\n`
      }),
      `0\r\n${trailers.map(name => `${name}: x\r\n`).join('')}\r\n`,
    ].join(''),
    body: chunks.map(({ content }) => content).join(''),
  }))

describe('a response', () => {
  test('a response is read the same, however its bytes are split', () => {
    const response = fc.record({
      framed: fc.oneof(withLength, inChunks),
      interim: fc.boolean(),
      cuts: fc.array(fc.nat(300)),
    })
    fc.assert(
      fc.property(response, ({ framed, interim, cuts }) => {
        const wire = (interim ? 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' : '') + framed.wire

        expect(read(cutAt(wire, cuts))).toEqual({ body: framed.body, progress: 'whole' })
        expect(read(wire.split(''))).toEqual({ body: framed.body, progress: 'whole' })
      }),
    )
  })

  test.each([
    ['a length', `${JSON_HEAD}content-length: 2\r\n\r\n{}`],
    ['chunks', `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ])('a response with %s reports bytes that follow it', (_name, wire) => {
    expect(read([`${wire}HTTP`]).progress).toBe('surplus')
  })

  test('a response is not whole before its last byte', () => {
    const wire = `${JSON_HEAD}content-length: 10\r\n\r\n123456789`

    expect(read([wire])).toEqual({ body: '123456789', progress: 'more' })
  })

  test.each([
    ['1.1', 'content-length: 0', true],
    ['1.1', 'content-length: 0\r\nconnection: Close', false],
    ['1.0', 'content-length: 0', false],
    ['1.1', 'server: x', false],
  ])('a response of HTTP/%s with %p leaves a reusable connection: %p', (version, headers, isReusable) => {
    const reader = new ResponseReader('GET')
    reader.feed(Buffer.from(`HTTP/${version} 200 OK\r\n${headers}\r\n\r\n`), nowhere)

    expect(reader.isReusable).toBe(isReusable)
  })
})

test('the response to a HEAD request has no body, even if it declares one', () => {
  const reader = new ResponseReader('HEAD')

  const progress = reader.feed(Buffer.from(`${JSON_HEAD}content-length: 10\r\n\r\n`), nowhere)

  expect(progress).toBe('whole')
})

describe('a head is refused', () => {
  test.each([
    ['of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['of HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['with a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['that switches protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['with two lengths', `${JSON_HEAD}content-length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['with a list of lengths', `${JSON_HEAD}content-length: 1, 1\r\n\r\n`],
    ['with a negative length', `${JSON_HEAD}content-length: -1\r\n\r\n`],
    ['with a length beyond what a number holds', `${JSON_HEAD}content-length: 99999999999999999999\r\n\r\n`],
    ['with a length and chunks', `${JSON_HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['with another transfer encoding', `${JSON_HEAD}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['with chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['with a line without a colon', 'HTTP/1.1 200 OK\r\nserver\r\n\r\n'],
    ['with a folded line', 'HTTP/1.1 200 OK\r\na: b\r\n c: d\r\n\r\n'],
    ['with a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\n'],
    ['with a bare line feed', 'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n'],
    ['with a bare carriage return', 'HTTP/1.1 200 OK\r\na: b\rc: d\r\n\r\n'],
    ['with a NUL in it', 'HTTP/1.1 200 OK\r\na: b\0\r\n\r\n'],
    ['with an empty name', 'HTTP/1.1 200 OK\r\n: b\r\n\r\n'],
    ['that is larger than 64 KB', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(64 * 1024)}`],
  ])('a head is refused %s', (_name, wire) => {
    expect(read([wire]).progress).toBe('malformed_head')
  })
})

describe('a chunk is refused', () => {
  test.each([
    ['without a length', 'x\r\n'],
    ['with a negative length', '-1\r\n'],
    ['with a length beyond what a number holds', `${'f'.repeat(16)}\r\n`],
    ['whose line ends in a bare line feed', '1\nx\r\n'],
    ['that is longer than it says', '1\r\nxy\r\n'],
    ['with an extension that is too long', `1;${'x'.repeat(9000)}`],
    ['followed by trailers that are too long', `0\r\n${`a: ${'x'.repeat(1000)}\r\n`.repeat(70)}`],
  ])('a chunk is refused %s', (_name, chunks) => {
    const wire = `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n${chunks}`

    expect(read([wire]).progress).toBe('malformed_body')
  })
})

test('garbage never throws', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', 'HTTP/1.1 200 OK\r\n', `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n`),
      fc.array(fc.uint8Array()),
      (start, pieces) => {
        const reader = new ResponseReader('GET')
        for (const piece of [Buffer.from(start), ...pieces]) {
          if (reader.feed(Buffer.from(piece), nowhere) !== 'more') break
        }
      },
    ),
  )
})

const nowhere = { onHead() {}, onPiece() {} }

function read(pieces: readonly string[]): { body: string; progress: Progress } {
  const parts: Uint8Array[] = []
  const reader = new ResponseReader('GET')
  let progress: Progress = 'more'
  for (const piece of pieces) {
    expect(progress).toBe('more')
    // Each piece has its own memory, as pieces from a socket have.
    progress = reader.feed(Buffer.from(Uint8Array.from(Buffer.from(piece, 'latin1')).buffer), {
      onHead() {},
      onPiece: (bytes, start, end) => void parts.push(bytes.subarray(start, end)),
    })
  }
  return { body: Buffer.concat(parts).toString('latin1'), progress }
}

function cutAt(wire: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map(cut => cut % wire.length).sort((a, b) => a - b), wire.length]
  return places
    .slice(1)
    .map((end, index) => wire.slice(places[index], end))
    .filter(piece => piece !== '')
}
