import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/fake-clock.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the leases of any store must do. */
export function leasesConform(kind: StoreKind): void {
  async function setUp() {
    const clock = fakeClock()
    const { store, other } = await kind.open({ clock })
    return { clock, leases: store.leases, other: other.leases }
  }

  describe('a lease', () => {
    test('a lease is given to one of 100 takers on two nodes', async () => {
      const { leases, other } = await setUp()
      const takers = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? leases : other))

      const taken = await Promise.all(takers.map(taker => taker.take('sweep', 1_000)))

      expect(taken.filter(lease => lease !== undefined)).toHaveLength(1)
    })

    test('a lease leaves other names free', async () => {
      const { leases } = await setUp()
      await leases.take('sweep', 1_000)

      expect(await leases.take('other', 1_000)).toBeDefined()
    })

    test('a lease can be taken again after its release, by another node too', async () => {
      const { leases, other } = await setUp()
      const lease = await leases.take('sweep', 1_000)

      await lease!.release()

      expect(await other.take('sweep', 1_000)).toBeDefined()
    })

    test('a lease can be taken again after its time, and not before', async () => {
      const { clock, leases, other } = await setUp()
      await leases.take('sweep', 1_000)

      clock.advance(999)
      const early = [await leases.take('sweep', 1_000), await other.take('sweep', 1_000)]
      clock.advance(1)
      const late = await other.take('sweep', 1_000)

      expect(early).toEqual([undefined, undefined])
      expect(late).toBeDefined()
    })

    test('a lease that is renewed lasts from then on', async () => {
      const { clock, leases, other } = await setUp()
      const lease = await leases.take('sweep', 1_000)
      clock.advance(999)

      const isRenewed = await lease!.renew(1_000)
      clock.advance(999)
      const early = await other.take('sweep', 1_000)
      clock.advance(1)

      expect([isRenewed, early]).toEqual([true, undefined])
      expect(await other.take('sweep', 1_000)).toBeDefined()
    })

    test('a lease that ran out can be renewed until another holder takes it', async () => {
      const { clock, leases, other } = await setUp()
      const lease = await leases.take('sweep', 1_000)
      clock.advance(1_000)

      const free = await lease!.renew(1_000)
      clock.advance(1_000)
      const successor = await other.take('sweep', 1_000)
      const taken = await lease!.renew(5_000)
      clock.advance(1_000)

      expect([free, successor !== undefined, taken]).toEqual([true, true, false])
      expect(await leases.take('sweep', 1_000)).toBeDefined()
    })

    test('a lease that was released cannot be renewed', async () => {
      const { leases, other } = await setUp()
      const lease = await leases.take('sweep', 1_000)
      await lease!.release()

      expect(await lease!.renew(1_000)).toBe(false)
      expect(await other.take('sweep', 1_000)).toBeDefined()
    })

    test('a lease that has run out does not release the lease of its successor', async () => {
      const { clock, leases, other } = await setUp()
      const old = await leases.take('sweep', 1_000)
      clock.advance(1_000)
      await other.take('sweep', 1_000)

      await old!.release()

      expect(await leases.take('sweep', 1_000)).toBeUndefined()
    })
  })
}
