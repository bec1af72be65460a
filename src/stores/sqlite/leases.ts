import type { Clock } from '../../gateway/ports/clock.ts'
import type { Lease, Leases } from '../../gateway/ports/nodes/leases.ts'

/**
 * The leases that are taken, by their names. In memory: a database file belongs to one process, and they die with it.
 */
export type TakenLeases = Map<string, { readonly untilMs: number }>

/** The leases of one node. `taken` is shared by all nodes of the store. */
export class SqliteLeases implements Leases {
  readonly #taken: TakenLeases
  readonly #clock: Clock

  constructor(parts: { readonly taken: TakenLeases; readonly clock: Clock }) {
    this.#taken = parts.taken
    this.#clock = parts.clock
  }

  async take(name: string, ttlMs: number): Promise<Lease | undefined> {
    const nowMs = this.#clock.monotonicMs()
    const taken = this.#taken.get(name)
    if (taken !== undefined && taken.untilMs > nowMs) return undefined
    const mine = { untilMs: nowMs + ttlMs }
    this.#taken.set(name, mine)
    return {
      renew: async ttlMs => {
        if (this.#taken.get(name) !== mine) return false
        mine.untilMs = this.#clock.monotonicMs() + ttlMs
        return true
      },
      release: async () => {
        if (this.#taken.get(name) === mine) this.#taken.delete(name)
      },
    }
  }
}
