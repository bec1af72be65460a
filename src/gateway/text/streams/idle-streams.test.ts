import { expect, test } from 'bun:test'
import { IdleStreams } from './idle-streams.ts'

test('streams that end by the idle limit are counted for their model, the most first', () => {
  const streams = new IdleStreams()

  for (const model of ['a', 'b', 'b']) streams.count(model)

  expect(streams.list()).toEqual([
    ['b', 2],
    ['a', 1],
  ])
})
