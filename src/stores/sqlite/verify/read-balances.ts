import type { Database, Statement } from 'bun:sqlite'
import {
  findingOfDeletedAccount,
  findingsOfBalances,
  type CheckedBalances,
} from '../../books/verify/rules/balance-rules.ts'
import { ChargeCheck, type CheckedCharge } from '../../books/verify/rules/charge-rules.ts'
import { EntryCheck, type OperationRow } from '../../books/verify/rules/entry-rules.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { BALANCES, CHARGES, OPERATIONS } from '../../books/verify/money-queries.ts'

/** About a millisecond of work. */
const ROWS_A_TURN = 128
const ACCOUNTS_A_TURN = 100

/** Reads the operations, the charges and the balances for their checks. */
export class BalancesReader {
  readonly entries = new EntryCheck()
  readonly #charges = new ChargeCheck()
  readonly #database: Database
  readonly #operationRows: GrowingTable<OperationRow>
  readonly #chargeRows: GrowingTable<CheckedCharge>

  constructor(database: Database) {
    this.#database = database
    this.#operationRows = new GrowingTable(
      database.prepare(`${OPERATIONS} WHERE id > ? ORDER BY id LIMIT ?`),
      row => this.entries.add(row),
    )
    this.#chargeRows = new GrowingTable(
      database.prepare(`${CHARGES} WHERE charges.id > ? ORDER BY charges.id LIMIT ?`),
      row => this.#charges.add(row),
    )
  }

  /** Checks all operations, then all charges, then all balances with what was written since. */
  *check(): Generator<readonly Finding[]> {
    yield* this.#operationRows.check()
    yield* this.#chargeRows.check()
    yield* this.#checkBalances()
    yield* this.#checkDeletedAccounts()
  }

  *#checkBalances(): Generator<readonly Finding[]> {
    const select = this.#database.prepare<CheckedBalances, [bigint, number]>(
      `${BALANCES} WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`,
    )
    const checked = { entries: this.entries, charges: this.#charges }
    let last = 0n
    for (;;) {
      // In the same turn as the balances.
      const found = [...this.#operationRows.catchUp(), ...this.#chargeRows.catchUp()]
      const rows = select.all(last, ACCOUNTS_A_TURN)
      yield [...found, ...rows.flatMap(row => findingsOfBalances(row, checked))]
      last = rows.at(-1)?.id ?? last
      if (rows.length < ACCOUNTS_A_TURN) return
    }
  }

  *#checkDeletedAccounts(): Generator<readonly Finding[]> {
    const select = this.#database.prepare<{ id: bigint }, [number]>('SELECT id FROM accounts WHERE id = ?')
    const { accountIds } = this.entries.fold
    for (let start = 0; start < accountIds.length; start += ACCOUNTS_A_TURN) {
      yield accountIds
        .slice(start, start + ACCOUNTS_A_TURN)
        .filter(accountId => select.get(accountId) === null)
        .map(accountId => findingOfDeletedAccount(accountId, this.entries))
    }
  }
}

/** Checks the rows of a table that only grows, in the order of their ids. */
class GrowingTable<Row extends { id: bigint }> {
  readonly #select: Statement<Row, [bigint, number]>
  readonly #add: (row: Row) => Finding | undefined
  #lastId = 0n

  constructor(select: Statement<Row, [bigint, number]>, add: (row: Row) => Finding | undefined) {
    this.#select = select
    this.#add = add
  }

  /** Checks all rows, in pieces. */
  *check(): Generator<readonly Finding[]> {
    for (;;) {
      const { findings, isDone } = this.#read()
      yield findings
      if (isDone) return
    }
  }

  /** Checks what was written since, in the same turn of the event loop. */
  catchUp(): readonly Finding[] {
    const found: Finding[] = []
    for (;;) {
      const { findings, isDone } = this.#read()
      found.push(...findings)
      if (isDone) return found
    }
  }

  #read(): { readonly findings: readonly Finding[]; readonly isDone: boolean } {
    const rows = this.#select.all(this.#lastId, ROWS_A_TURN)
    const findings = rows.flatMap(row => this.#add(row) ?? [])
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return { findings, isDone: rows.length < ROWS_A_TURN }
  }
}
