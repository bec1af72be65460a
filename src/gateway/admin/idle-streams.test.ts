import { expect, test } from 'bun:test'
import { IdleStreams } from './idle-streams.ts'

const idle = [{ provider: 'main', reason: 'idle_stream' }] as const

test('streams that end by the idle limit are counted for their model, the most first', () => {
  const streams = new IdleStreams()

  for (const model of ['a', 'b', 'b']) streams.count({ model, upstreamFailures: idle })

  expect(streams.list()).toEqual([
    ['b', 2],
    ['a', 1],
  ])
})

test('other failures, and requests without a model, are not counted', () => {
  const streams = new IdleStreams()

  streams.count({ model: 'a' })
  streams.count({ model: 'a', upstreamFailures: [{ provider: 'main', reason: 'broken_stream' }] })
  streams.count({ upstreamFailures: idle })

  expect(streams.list()).toEqual([])
})
