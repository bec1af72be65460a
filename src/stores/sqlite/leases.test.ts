import { expect, test } from 'bun:test'
import { leasesConform } from '../../../test/conformance/leases.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { sqlite } from '../../../test/support/test-store.ts'
import { SqliteLeases } from './leases.ts'

const HOUR_MS = 3_600_000

leasesConform(sqlite)

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a lease lasts as long as before when the wall clock is set %s', async (_direction, stepMs) => {
  const clock = fakeClock()
  const leases = new SqliteLeases({ taken: new Map(), clock })
  await leases.take('sweep', 1_000)
  clock.setWallClock(clock.now() + stepMs)

  clock.advance(999)
  const early = await leases.take('sweep', 1_000)
  clock.advance(1)
  const late = await leases.take('sweep', 1_000)

  expect(early).toBeUndefined()
  expect(late).toBeDefined()
})
