import { describe, expect, test } from 'bun:test'
import type { Flights } from '../../src/gateway/ports/requests/shared-cache.ts'
import { aFingerprint, differing } from './replays.ts'

/** Two nodes without flights. */
export type OpenFlights = () => Promise<{
  readonly nodes: readonly [Flights, Flights]
  /** Lets time pass, and waits for what falls due. */
  readonly advance: (ms: number) => Promise<void>
  /** Ends the first node without landing its flights. */
  readonly die: () => void
}>

const asked = aFingerprint('a')
const LONG_MS = 20_000
const OVER_MS = 5000

/** What every store of flights must do. Run by stores/valkey/shared-cache.test.ts. */
export function flightsConform(open: OpenFlights): void {
  describe('flights of two nodes', () => {
    test('of two nodes, only the first has the flight of identical requests', async () => {
      const {
        nodes: [one, two],
      } = await open()

      const flights = [await one.begin(asked), await two.begin(asked), await one.begin(asked)]

      expect(flights.map(flight => flight !== undefined)).toEqual([true, false, false])
    })

    test('requests that differ have their own flights', async () => {
      const {
        nodes: [one, two],
      } = await open()
      await one.begin(asked)

      for (const other of differing(asked)) expect(await two.begin(other)).toBeDefined()
    })

    test('after a flight landed and its answer was kept, another node can begin one', async () => {
      const {
        nodes: [one, two],
      } = await open()
      const flight = await one.begin(asked)

      await flight!.land('kept')
      await two.begin(asked)

      expect(await one.begin(asked)).toBeUndefined()
    })

    test('after a flight landed without an answer, no request waits for another one for a moment', async () => {
      const {
        nodes: [one, two],
      } = await open()
      const flight = await one.begin(asked)

      await flight!.land('not_kept')
      const next = [await two.begin(asked), await one.begin(asked)]

      expect(next.map(flight => flight !== undefined)).toEqual([true, true])
    })

    test('a flight lasts as long as its request runs', async () => {
      const {
        nodes: [one, two],
        advance,
      } = await open()
      await one.begin(asked)

      await advance(LONG_MS)

      expect(await two.begin(asked)).toBeUndefined()
    })

    test('the flight of a dead node ends after seconds', async () => {
      const {
        nodes: [one, two],
        advance,
        die,
      } = await open()
      await one.begin(asked)

      die()
      const before = await two.begin(asked)
      await advance(OVER_MS)

      expect(before).toBeUndefined()
      expect(await two.begin(asked)).toBeDefined()
    })

    test('landing twice changes nothing, also if another node has begun a flight meanwhile', async () => {
      const {
        nodes: [one, two],
      } = await open()
      const flight = await one.begin(asked)
      await flight!.land('kept')
      await two.begin(asked)

      await flight!.land('not_kept')

      expect(await one.begin(asked)).toBeUndefined()
    })
  })
}
