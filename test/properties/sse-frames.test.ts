import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFrame, type SseEvent } from '../../src/protocol/sse/frame.ts'
import { FrameSplitter, type Frame } from '../../src/protocol/sse/frame-splitter.ts'
import { readsOf } from './sse-streams.ts'

const decoder = new TextDecoder()

const anyText = fc
  .array(
    fc.constantFrom(
      'data: a',
      'data:',
      'data',
      'event: x',
      ': c',
      'x',
      'é🙂',
      ' ',
      '\n',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''))

const anyReads = anyText.chain(text => fc.tuple(fc.constant(text), readsOf(text)))

test('the frames of any text in any pieces are together that text', () => {
  fc.assert(
    fc.property(anyReads, fc.integer({ min: 1, max: 40 }), ([text, reads], frameBytesMax) => {
      const splitter = new FrameSplitter(frameBytesMax)

      const parts = reads.flatMap(read => splitter.split(read)).map(frame => frame.bytes)

      expect(decoder.decode(Buffer.concat([...parts, splitter.rest()]))).toBe(text)
    }),
    { numRuns: 1000 },
  )
})

test('the frames of any text in any pieces have the events that the standard defines', () => {
  fc.assert(
    fc.property(anyReads, ([text, reads]) => {
      const splitter = new FrameSplitter()

      const frames = reads.flatMap(read => splitter.split(read))

      expect(eventsOf(frames)).toEqual(standardEvents(text))
    }),
    { numRuns: 1000 },
  )
})

function eventsOf(frames: readonly Frame[]): SseEvent[] {
  return frames.map(frame => readFrame(frame.bytes)).filter(event => event.data !== undefined)
}

/** The standard's algorithm, line by line. It drops an event without a blank line after it. */
function standardEvents(text: string): SseEvent[] {
  const events: SseEvent[] = []
  let name = ''
  let data: string[] = []
  const lines = text.split(/\r\n|\r|\n/)
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') })
      name = ''
      data = []
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/u.exec(line) ?? []
    if (field === 'data') data.push(value)
    if (field === 'event') name = value
  }
  return events
}
