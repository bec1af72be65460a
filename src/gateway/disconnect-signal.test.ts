import { expect, test } from 'bun:test'
import { DisconnectSignal } from './disconnect-signal.ts'

test('every listener hears of a leave once, in their order, and then none any more', () => {
  const signal = new DisconnectSignal()
  const heard: string[] = []
  signal.addEventListener('abort', () => heard.push('function'))
  signal.addEventListener('abort', { handleEvent: () => heard.push('object') })

  signal.fire()
  signal.addEventListener('abort', () => heard.push('late'))
  signal.fire()

  expect(signal.aborted).toBe(true)
  expect(heard).toEqual(['function', 'object'])
})

test('a listener that was removed hears nothing, also where another one removes it meanwhile', () => {
  const signal = new DisconnectSignal()
  const heard: string[] = []
  const early = () => heard.push('early')
  const last = () => heard.push('last')
  signal.addEventListener('abort', early)
  signal.addEventListener('abort', () => signal.removeEventListener('abort', last))
  signal.addEventListener('abort', last)

  signal.removeEventListener('abort', early)
  signal.removeEventListener('abort', early)
  signal.fire()

  expect(heard).toEqual([])
})
