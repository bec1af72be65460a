import { describe, expect, test } from 'bun:test'
import type { Clock } from '../../src/gateway/ports/clock.ts'
import type { Leases } from '../../src/gateway/ports/leases.ts'
import { fakeClock } from '../support/fake-clock.ts'

/** What any leases must do. Run by stores/memory/leases.test.ts, and by each store that follows. */
export function leasesConform(open: (clock: Clock) => Leases): void {
  function setUp() {
    const clock = fakeClock()
    return { clock, leases: open(clock) }
  }

  describe('a lease', () => {
    test('is granted to one of 100 callers', async () => {
      const { leases } = setUp()

      const taken = await Promise.all(Array.from({ length: 100 }, () => leases.take('sweep', 1_000)))

      expect(taken.filter(lease => lease !== undefined)).toHaveLength(1)
    })

    test('does not block leases with other names', async () => {
      const { leases } = setUp()
      await leases.take('sweep', 1_000)

      expect(await leases.take('other', 1_000)).toBeDefined()
    })

    test('can be taken again after its release', async () => {
      const { leases } = setUp()
      const lease = await leases.take('sweep', 1_000)

      await lease!.release()

      expect(await leases.take('sweep', 1_000)).toBeDefined()
    })

    test('can be taken again after its time, and not before', async () => {
      const { clock, leases } = setUp()
      await leases.take('sweep', 1_000)

      clock.advance(999)
      const early = await leases.take('sweep', 1_000)
      clock.advance(1)
      const late = await leases.take('sweep', 1_000)

      expect(early).toBeUndefined()
      expect(late).toBeDefined()
    })

    test('that has expired cannot release the lease of the next holder', async () => {
      const { clock, leases } = setUp()
      const old = await leases.take('sweep', 1_000)
      clock.advance(1_000)
      await leases.take('sweep', 1_000)

      await old!.release()

      expect(await leases.take('sweep', 1_000)).toBeUndefined()
    })
  })
}
