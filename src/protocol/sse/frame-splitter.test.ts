import { describe, expect, test } from 'bun:test'
import { FrameSplitter } from './frame-splitter.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Feeds the reads one at a time. Returns the frames as text, and the rest. */
function split(reads: readonly string[], frameBytesMax?: number) {
  const splitter = new FrameSplitter(frameBytesMax)
  const frames = reads.flatMap(read => splitter.split(encoder.encode(read)))
  const isMidFrame = splitter.isMidFrame
  return {
    frames: frames.map(frame => decoder.decode(frame.bytes)),
    unread: frames.filter(frame => !frame.isWhole).map(frame => decoder.decode(frame.bytes)),
    isMidFrame,
    rest: decoder.decode(splitter.rest()),
  }
}

describe('frames of a stream', () => {
  const cases: [title: string, reads: string[], frames: string[], rest: string][] = [
    ['end with a blank line', ['data: a\n\ndata: b\n\n'], ['data: a\n\n', 'data: b\n\n'], ''],
    ['end with CRLF lines', ['data: a\r\n\r\ndata: b\r\n\r\n'], ['data: a\r\n\r\n', 'data: b\r\n\r\n'], ''],
    ['end with CR lines', ['data: a\r\rdata: b\r\r'], ['data: a\r\r', 'data: b\r\r'], ''],
    ['end with mixed lines', ['data: a\n\r\ndata: b\r\n\n'], ['data: a\n\r\n', 'data: b\r\n\n'], ''],
    ['may have several lines', ['event: x\ndata: a\nid: 1\n\n'], ['event: x\ndata: a\nid: 1\n\n'], ''],
    [
      'are joined from pieces',
      ['da', 'ta: a', '\n', '\nda', 'ta: b\n\n'],
      ['data: a\n\n', 'data: b\n\n'],
      '',
    ],
    [
      'are joined from pieces with CRLF line ends',
      ['data: a\r', '\n\r', '\ndata: b\r\n\r\n'],
      ['data: a\r\n\r', '\n', 'data: b\r\n\r\n'],
      '',
    ],
    ['without a last blank line are the rest', ['data: a\n\ndata: b\n'], ['data: a\n\n'], 'data: b\n'],
    ['are not ended by a line end', ['data: a\ndata: b'], [], 'data: a\ndata: b'],
    ['may be blank lines', ['\n\n\r\ndata: a\n\n'], ['\n', '\n', '\r\n', 'data: a\n\n'], ''],
    [
      'may be single comments',
      [': ping\n', ': pong\r\n', 'data: a\n\n'],
      [': ping\n', ': pong\r\n', 'data: a\n\n'],
      '',
    ],
    ['may be comments in pieces', [': pi', 'ng\n'], [': ping\n'], ''],
    [
      'may have comments between their lines',
      ['data: a\n: ping\ndata: b\n\n'],
      ['data: a\n: ping\ndata: b\n\n'],
      '',
    ],
    ['may be many in one read', ['data: a\n\n'.repeat(3)], Array(3).fill('data: a\n\n') as string[], ''],
  ]

  test.each(cases)('frames of a stream %s', (_, reads, frames, rest) => {
    expect(split(reads)).toEqual({ frames, unread: [], isMidFrame: rest !== '', rest })
  })

  test('frames of a stream that are a whole read are that read, not a copy', () => {
    const read = encoder.encode('data: a\n\n')

    const [frame] = new FrameSplitter().split(read)

    expect(frame?.bytes).toBe(read)
  })

  test('frames of a stream that are split inside a character are joined', () => {
    const bytes = encoder.encode('data: 🙂é\n\n')
    const splitter = new FrameSplitter()

    const frames = [...bytes].flatMap(byte => splitter.split(Uint8Array.of(byte)))

    expect(frames.map(frame => decoder.decode(frame.bytes))).toEqual(['data: 🙂é\n\n'])
  })

  test('frames of a stream that grow too large are passed on in pieces, and the next one is whole', () => {
    const { frames, unread, rest } = split(['data: 12', '3456', '789', '0\n', '\ndata: b\n\n'], 10)

    expect(frames.join('')).toBe('data: 1234567890\n\ndata: b\n\n')
    expect(unread.join('')).toBe('data: 1234567890\n\n')
    expect(frames.at(-1)).toBe('data: b\n\n')
    expect(rest).toBe('')
  })

  test('frames of a stream that grow too large and never end leave the stream inside a frame', () => {
    expect(split(['data: 12345678'], 10)).toMatchObject({ isMidFrame: true, rest: '' })
  })
})
