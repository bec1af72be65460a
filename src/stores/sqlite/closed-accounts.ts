import type { Database, Statement } from 'bun:sqlite'
import { closedRefusal } from '../../domain/accounts/account.ts'

/** Refuses what a closed account does not take. */
export class ClosedAccounts {
  readonly #isClosed: Statement<{ is_closed: bigint }, [number]>

  constructor(database: Database) {
    this.#isClosed = database.prepare(
      'SELECT closed_at_ms IS NOT NULL AS is_closed FROM accounts WHERE id = ?',
    )
  }

  /** Inside a step, so that the account is not closed at the same time. Throws `already_closed`. */
  refuse(accountId: number, what: string): void {
    if (this.#isClosed.get(accountId)?.is_closed === 1n) throw closedRefusal(what)
  }
}
