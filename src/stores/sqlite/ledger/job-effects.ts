import type { Database } from 'bun:sqlite'
import type { JobEffects } from '../../books/jobs/jobs.ts'
import { inMemory } from './charge-effects.ts'
import type { LedgerSteps } from './ledger.ts'

/**
 * The effects of jobs in SQLite. A node of a name is open once, so nothing submits the queued jobs that it had when it
 * was opened.
 */
export function createJobEffects({
  database,
  node,
  steps: { limits },
}: {
  readonly database: Database
  /** The name of the node. */
  readonly node: string
  readonly steps: Pick<LedgerSteps, 'limits'>
}): JobEffects {
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
