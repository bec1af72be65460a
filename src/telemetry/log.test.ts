import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { openLog, quoted } from './log.ts'

function opened(level: 'info' | 'silent' = 'info') {
  const written: string[] = []
  const deferred: (() => void)[] = []
  const log = openLog({
    level,
    write: text => written.push(text),
    now: () => 5,
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
