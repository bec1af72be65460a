import { expect, test } from 'bun:test'
import { Durations } from './request-metrics.ts'

test('durations are a Prometheus histogram with cumulative buckets', () => {
  const durations = new Durations()
  for (const seconds of [0.001, 0.005, 0.02, 60, 1000]) durations.observe('chat', seconds)
  durations.observe('responses', 0.3)

  const lines = durations.text('took_seconds', 'How long.').split('\n')

  expect(lines.slice(0, 2)).toEqual(['# HELP took_seconds How long.', '# TYPE took_seconds histogram'])
  const chat = lines.filter(line => line.includes('route="chat"'))
  expect(chat.map(line => line.replace('took_seconds_', ''))).toEqual([
    'bucket{le="0.005",route="chat"} 2',
    'bucket{le="0.01",route="chat"} 2',
    'bucket{le="0.025",route="chat"} 3',
    'bucket{le="0.05",route="chat"} 3',
    'bucket{le="0.1",route="chat"} 3',
    'bucket{le="0.25",route="chat"} 3',
    'bucket{le="0.5",route="chat"} 3',
    'bucket{le="1",route="chat"} 3',
    'bucket{le="2.5",route="chat"} 3',
    'bucket{le="5",route="chat"} 3',
    'bucket{le="10",route="chat"} 3',
    'bucket{le="30",route="chat"} 3',
    'bucket{le="60",route="chat"} 4',
    'bucket{le="120",route="chat"} 4',
    'bucket{le="300",route="chat"} 4',
    'bucket{le="+Inf",route="chat"} 5',
    'sum{route="chat"} 1060.026',
    'count{route="chat"} 5',
  ])
  expect(lines).toContain('took_seconds_count{route="responses"} 1')
  expect(lines.at(-1)).toBe('')
})

test('a histogram without durations has no series', () => {
  expect(new Durations().text('took_seconds', 'How long.').split('\n')).toHaveLength(3)
})
