import { expect, test } from 'bun:test'
import { Arrived } from './arrived.ts'

test('is all that was pushed, in order, once', () => {
  const arrived = new Arrived()

  expect(arrived.push(Buffer.from('one '))).toBe(true)
  expect(arrived.push(Buffer.from('two'))).toBe(false)
  expect(arrived.isEmpty).toBe(false)
  expect(arrived.take()?.toString()).toBe('one two')
  expect(arrived.isEmpty).toBe(true)
  expect(arrived.take()).toBeUndefined()
})

test('is much beyond 64 KB', () => {
  const arrived = new Arrived()

  arrived.push(Buffer.alloc(64 * 1024))
  expect(arrived.isMuch).toBe(false)
  arrived.push(Buffer.alloc(1))
  expect(arrived.isMuch).toBe(true)
})
