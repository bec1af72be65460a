import { expect, test } from 'bun:test'
import { listNodes } from './checks.ts'

test('the list of nodes marks one that has written nothing for two minutes', async () => {
  const node = (name: string, last_seen_at: string) => ({
    name,
    version: '1',
    too_old: false,
    lane: 1,
    epoch: 1,
    last_seen_at,
    clock_offset_ms: 0,
    text_holds: 0,
  })
  const data = [
    node('one', '2027-01-01T00:02:00.000Z'),
    node('two', '2027-01-01T00:00:00.001Z'),
    node('gone', '2027-01-01T00:00:00.000Z'),
  ]

  const { text } = await listNodes(<T>() => Promise.resolve({ data } as T))

  const marked = text?.split('\n').filter(line => line.includes('(silent)'))
  expect(marked).toHaveLength(1)
  expect(marked?.[0]).toStartWith('gone')
})
