import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { FINISHING_BYTES_MAX, FinishingStreams } from './finishing-streams.ts'

test('a stream that has ended leaves the bytes of its request to others', () => {
  const streams = new FinishingStreams(fakeClock())
  const end = streams.begin(FINISHING_BYTES_MAX, () => {})
  const during = streams.begin(1, () => {})

  end?.()

  expect(during).toBeUndefined()
  expect(streams.begin(FINISHING_BYTES_MAX, () => {})).toBeDefined()
  expect(streams.running).toBe(1)
})
