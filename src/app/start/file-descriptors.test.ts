import { expect, test } from 'bun:test'
import { connectionsMax } from './file-descriptors.ts'

test.each([
  [256, 96],
  [1024, 480],
  [32_832, 16_384],
  [65_536, 16_384],
  [Number.POSITIVE_INFINITY, 16_384],
  [undefined, 16_384],
  [16, 1],
])('with %p file descriptors, a server accepts %p connections', (filesMax, connections) => {
  expect(connectionsMax(filesMax)).toBe(connections)
})
