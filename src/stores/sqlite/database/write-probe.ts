import type { Database } from 'bun:sqlite'
import type { GroupCommit } from '../commits/group-commit.ts'
import type { Transactions } from '../commits/transactions.ts'

/**
 * Knows whether the store can be written. Work that has to be recorded later must not begin while it cannot: a full
 * disk would show only after the upstream has done the work, which could then not be billed.
 */
export type WriteProbe = {
  /** False from the first failed commit until one succeeds. While it is false, each call tries another commit. */
  readonly isWritable: () => boolean
}

/**
 * Watches every commit. A rollback alone does not show whether the disk failed or a step refused its own work, so each
 * rollback is followed by a trial commit.
 */
export function createWriteProbe(parts: {
  readonly database: Database
  readonly transactions: Transactions
  readonly groupCommit: GroupCommit
}): WriteProbe {
  const { database, transactions, groupCommit } = parts
  let isFailing = false
  let isProbing = false

  function probe(): void {
    if (isProbing) return
    isProbing = true
    groupCommit
      // Writes a page without changing anything. SQLite does not write an UPDATE to the same value.
      .run(() => database.run('PRAGMA user_version = 0'))
      .then(
        () => (isFailing = false),
        () => (isFailing = true),
      )
      .finally(() => (isProbing = false))
  }

  transactions.join({ afterRollback: probe, afterCommit: () => (isFailing = false) })
  return {
    isWritable: () => {
      if (isFailing) probe()
      return !isFailing
    },
  }
}
