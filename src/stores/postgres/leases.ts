import type { Lease, Leases } from '../../gateway/ports/nodes/leases.ts'
import type { ReadQuery } from './database/reads.ts'

/** The leases of one node. They last by the clock of the database, which all nodes share. */
export class PostgresLeases implements Leases {
  readonly #sql: ReadQuery
  readonly #nowMs: () => number | null
  /**
   * The fences of the leases whose release failed, by their names. Nobody holds them, so this node takes them before
   * their end. Otherwise no node would do the work for that long after a crash of the database.
   */
  readonly #unreleased = new Map<string, bigint>()

  /** `nowMs` replaces the clock of the database, for tests. */
  constructor({
    reads,
    nowMs = () => null,
  }: {
    readonly reads: ReadQuery
    readonly nowMs?: () => number | null
  }) {
    this.#sql = reads
    this.#nowMs = nowMs
  }

  async take(name: string, ttlMs: number): Promise<Lease | undefined> {
    const sql = this.#sql
    const nowMs = this.#nowMs()
    const unreleased = this.#unreleased.get(name) ?? null
    const [taken] = await sql<{ fence: bigint }[]>`
      INSERT INTO leases (name, fence, until_ms) VALUES (${name}, 1, now_ms(${nowMs}) + ${ttlMs}::bigint)
        ON CONFLICT (name) DO UPDATE SET fence = leases.fence + 1, until_ms = excluded.until_ms
          WHERE leases.until_ms <= now_ms(${nowMs}) OR leases.fence = ${unreleased}::bigint
        RETURNING fence`
    this.#unreleased.delete(name)
    if (taken === undefined) return undefined
    const { fence } = taken
    return {
      renew: async ttlMs => {
        const renewed = await sql<{ name: string }[]>`
          UPDATE leases SET until_ms = now_ms(${this.#nowMs()}) + ${ttlMs}::bigint
            WHERE name = ${name} AND fence = ${fence} AND until_ms > 0 RETURNING name`
        return renewed.length > 0
      },
      release: async () => {
        try {
          await sql`UPDATE leases SET until_ms = 0 WHERE name = ${name} AND fence = ${fence}`
        } catch (error) {
          this.#unreleased.set(name, fence)
          throw error
        }
      },
    }
  }
}
