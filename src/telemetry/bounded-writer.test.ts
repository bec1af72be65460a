import { expect, test } from 'bun:test'
import { boundedWriter, WAITING_CHARS_MAX } from './bounded-writer.ts'

const LINE = `{"message":"${'x'.repeat((1 << 20) - 15)}"}\n`

/** A reader that reads only when the test calls `readAll`. */
function slowReader() {
  const taken: string[] = []
  const waiting: { text: string; done: () => void }[] = []
  const write = boundedWriter(
    (text, done) => waiting.push({ text, done }),
    () => 7,
  )
  const readAll = () => {
    for (const { text, done } of waiting.splice(0)) {
      taken.push(text)
      done()
    }
  }
  return { write, readAll, taken, waiting }
}

test('written text is passed on unchanged', () => {
  const { write, readAll, taken } = slowReader()

  write('a\n')
  write('b\nc\n')
  readAll()

  expect(taken).toEqual(['a\n', 'b\nc\n'])
})

test('when the reader stops, no more than the limit is kept, and the lost lines are reported when it reads again', () => {
  const { write, readAll, taken, waiting } = slowReader()
  for (let count = 0; count < 100; count += 1) write(LINE)
  const waited = waiting.reduce((sum, { text }) => sum + text.length, 0)
  readAll()
  const lost = 100 - taken.length

  write('again\n')
  readAll()

  expect(waited).toBeWithin(WAITING_CHARS_MAX / 2, WAITING_CHARS_MAX + 1)
  const [report = '', line] = taken.at(-1)!.split('\n')
  expect(JSON.parse(report)).toEqual({
    time: '1970-01-01T00:00:00.007Z',
    level: 'error',
    message: 'log lines were dropped because the reader was too slow',
    lines: lost,
  })
  expect(line).toBe('again')
})
