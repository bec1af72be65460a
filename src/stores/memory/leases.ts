import type { Clock } from '../../gateway/ports/clock.ts'
import type { Lease, Leases } from '../../gateway/ports/leases.ts'

/** The leases of a single node. They end with its process, as its work does. */
export class MemoryLeases implements Leases {
  readonly #taken = new Map<string, { readonly untilMs: number }>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async take(name: string, ttlMs: number): Promise<Lease | undefined> {
    const nowMs = this.#clock.monotonicMs()
    const taken = this.#taken.get(name)
    if (taken !== undefined && taken.untilMs > nowMs) return undefined
    const own = { untilMs: nowMs + ttlMs }
    this.#taken.set(name, own)
    return {
      release: async () => {
        if (this.#taken.get(name) === own) this.#taken.delete(name)
      },
    }
  }
}
