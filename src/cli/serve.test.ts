import { expect, test } from 'bun:test'
import { stopSignals } from './serve.ts'

test('the first signal stops, and one at least 100 ms later ends at once', () => {
  const calls: string[] = []
  let nowMs = 5000
  const onSignal = stopSignals({
    stop: () => calls.push('stop'),
    end: () => calls.push('end'),
    elapsedMs: () => nowMs,
  })

  onSignal()
  onSignal()
  nowMs += 99
  onSignal()
  expect(calls).toEqual(['stop'])

  nowMs += 1
  onSignal()
  expect(calls).toEqual(['stop', 'end'])
})
