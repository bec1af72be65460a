import { expect, test } from 'bun:test'
import { DisconnectSignal } from './disconnect-signal.ts'

test('a signal calls each listener once, in their order, and none that is added later', () => {
  const signal = new DisconnectSignal()
  const called: string[] = []
  signal.addEventListener('abort', () => called.push('function'))
  signal.addEventListener('abort', { handleEvent: () => called.push('object') })

  signal.fire()
  signal.addEventListener('abort', () => called.push('late'))
  signal.fire()

  expect(signal.aborted).toBe(true)
  expect(called).toEqual(['function', 'object'])
})

test('a signal does not call a listener that was removed, also by another listener', () => {
  const signal = new DisconnectSignal()
  const called: string[] = []
  const early = () => called.push('early')
  const last = () => called.push('last')
  signal.addEventListener('abort', early)
  signal.addEventListener('abort', () => signal.removeEventListener('abort', last))
  signal.addEventListener('abort', last)

  signal.removeEventListener('abort', early)
  signal.removeEventListener('abort', early)
  signal.fire()

  expect(called).toEqual([])
})
