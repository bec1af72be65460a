import fc from 'fast-check'
import { expect, test } from 'bun:test'
import { GatewayError } from '../domain/errors.ts'
import { boundedWriter, errorFields, openLog, quoted, WAITING_CHARS_MAX } from './log.ts'

function opened(level: 'info' | 'silent' = 'info') {
  const written: string[] = []
  const deferred: (() => void)[] = []
  const log = openLog({
    level,
    write: text => written.push(text),
    clock: { now: () => 5 },
    defer: flush => deferred.push(flush),
  })
  return { log, written, deferred }
}

test('lines are written together, each an object with time, level and message first', () => {
  const { log, written, deferred } = opened()

  log.info('one "line"', { status: 200, model: undefined, route: 'chat' })
  log.error('no fields')
  log.warn('nothing known', { model: undefined })
  log.info('put together', '"status":200')
  deferred.forEach(flush => flush())

  expect(written).toEqual([
    '{"time":"1970-01-01T00:00:00.005Z","level":"info","message":"one \\"line\\"","status":200,"route":"chat"}\n' +
      '{"time":"1970-01-01T00:00:00.005Z","level":"error","message":"no fields"}\n' +
      '{"time":"1970-01-01T00:00:00.005Z","level":"warn","message":"nothing known"}\n' +
      '{"time":"1970-01-01T00:00:00.005Z","level":"info","message":"put together","status":200}\n',
  ])
})

test('a flush writes the buffered lines, and the deferred flush then writes nothing', () => {
  const { log, written, deferred } = opened()
  log.info('a')

  log.flush()
  deferred.forEach(flush => flush())

  expect(written).toHaveLength(1)
})

test.each([
  ['debug', 'info'],
  ['error', 'silent'],
] as const)('a line of level %s is not written at level %s', (line, level) => {
  const { log, written } = opened(level)

  log[line]('x')
  log.flush()

  expect(written).toEqual([])
})

test('any text is quoted as in JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), text => {
      expect(quoted(text)).toBe(JSON.stringify(text))
    }),
  )
})

const LINE = `{"message":"${'x'.repeat((1 << 20) - 15)}"}\n`

/** A reader that reads only when the test calls `readAll`. */
function slowReader() {
  const taken: string[] = []
  const waiting: { text: string; done: () => void }[] = []
  const write = boundedWriter((text, done) => waiting.push({ text, done }), { now: () => 7 })
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

test('an outage is logged with its message and causes and without a stack, and a bug with its stack', () => {
  const cause = new Error('The database did not answer in 2000 ms.', { cause: new TypeError('closed') })
  const outage = new GatewayError('unavailable', 'The API key cannot be checked.', { cause })
  const bug = new TypeError('x is undefined')

  const fields = [errorFields(outage), errorFields(bug)]

  expect(fields).toEqual([
    {
      error: 'GatewayError: The API key cannot be checked.',
      causes: 'Error: The database did not answer in 2000 ms. ← TypeError: closed',
      stack: undefined,
    },
    { error: 'TypeError: x is undefined', causes: undefined, stack: bug.stack },
  ])
})
