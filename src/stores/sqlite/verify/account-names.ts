import type { Database, Statement } from 'bun:sqlite'

/** Names accounts in messages for the operator: `Account "ada" (acct_…)`. */
export class AccountNames {
  readonly #select: Statement<{ name: string; public_id: string }, [bigint]>

  constructor(database: Database) {
    this.#select = database.prepare('SELECT name, public_id FROM accounts WHERE id = ?')
  }

  of(accountId: bigint | number): string {
    const row = this.#select.get(BigInt(accountId))
    return row === null ? `Account ${accountId} (deleted)` : `Account "${row.name}" (${row.public_id})`
  }
}
