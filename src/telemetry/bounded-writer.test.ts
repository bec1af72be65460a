import { expect, test } from 'bun:test'
import { boundedWriter, WAITING_CHARS_MAX } from './bounded-writer.ts'

const LINE = `{"message":"${'x'.repeat((1 << 20) - 15)}"}\n`

/** A reader that takes what is written only when it is told to. */
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

test('what is written passes on as it is', () => {
  const { write, readAll, taken } = slowReader()

  write('a\n')
  write('b\nc\n')
  readAll()

  expect(taken).toEqual(['a\n', 'b\nc\n'])
})

test('for a reader that takes nothing, no more waits than the bound, and what is lost is counted when it reads again', () => {
  const { write, readAll, taken, waiting } = slowReader()
  for (let count = 0; count < 100; count += 1) write(LINE)
  const waited = waiting.reduce((sum, { text }) => sum + text.length, 0)
  readAll()
  const lost = 100 - taken.length

  write('again\n')
  readAll()

  expect(waited).toBeWithin(WAITING_CHARS_MAX / 2, WAITING_CHARS_MAX + 1)
  const [told = '', line] = taken.at(-1)!.split('\n')
  expect(JSON.parse(told)).toEqual({
    time: 7,
    level: 'error',
    message: 'log lines were lost, because nobody read them',
    lines: lost,
  })
  expect(line).toBe('again')
})
