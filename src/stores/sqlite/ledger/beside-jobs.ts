import type { Database } from 'bun:sqlite'
import type { BesideJobs } from '../../books/jobs/jobs.ts'
import { inMemory } from './beside-charges.ts'
import type { LedgerSteps } from './ledger.ts'

/**
 * What SQLite keeps beside jobs. A node of a name is open once, so nothing submits the queued jobs that it had when it
 * was opened.
 */
export function createBesideJobs({
  database,
  node,
  steps: { limits },
}: {
  readonly database: Database
  /** The name of the node. */
  readonly node: string
  readonly steps: Pick<LedgerSteps, 'limits'>
}): BesideJobs {
  const row = database.query<{ last: bigint | null }, []>('SELECT max(row_id) AS last FROM jobs').get()
  const last = row?.last ?? 0n
  return {
    *takeLimits(books, demand, at) {
      const taken = limits.take(inMemory(books), demand, at)
      if (taken.outcome === 'limited') limits.tellRefusal(inMemory(books), taken.refusal, at.nowMs)
      return taken
    },
    *giveBackLimits(books, demand, atMs) {
      limits.giveBack(inMemory(books), demand, { tokens: 0, atMs })
    },
    submitter: () => node,
    left: () => ({ sql: 'node = ? AND row_id <= ?', values: [node, last] }),
  }
}
