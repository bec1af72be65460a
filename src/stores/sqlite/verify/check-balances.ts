import type { Database, Statement } from 'bun:sqlite'
import {
  findingOfDeletedAccount,
  findingsOfBalances,
  type CheckedBalances,
} from '../../books/verify/balances.ts'
import { ChargeCheck, type CheckedCharge } from '../../books/verify/charges.ts'
import { EntryCheck, type OperationRow } from '../../books/verify/entries.ts'
import type { Finding } from '../../books/verify/findings.ts'

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
    this.#operationRows = new GrowingTable(database.prepare(SELECT_OPERATIONS), row => this.entries.add(row))
    this.#chargeRows = new GrowingTable(database.prepare(SELECT_CHARGES), row => this.#charges.add(row))
  }

  /** Checks all operations, then all charges, then all balances with what was written since. */
  *check(): Generator<readonly Finding[]> {
    yield* this.#operationRows.check()
    yield* this.#chargeRows.check()
    yield* this.#checkBalances()
    yield* this.#checkDeletedAccounts()
  }

  *#checkBalances(): Generator<readonly Finding[]> {
    const select = this.#database.prepare<CheckedBalances, [bigint, number]>(SELECT_BALANCES)
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

/**
 * `subject_at_ms` is the time of the row that an operation belongs to. A credit or an attempt has no such time of its
 * own.
 */
const SELECT_OPERATIONS = `SELECT *,
    CASE WHEN kind IN ('charge', 'capture')
      THEN (SELECT cost FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
        AND charges.operation_id = operations.id) END AS cost,
    CASE WHEN kind = 'loss'
      THEN (SELECT loss FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
        AND loss_by = operations.id) END AS loss,
    CASE WHEN kind = 'refund'
      THEN (SELECT amount FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
        AND corrections.operation_id = operations.id) END AS refunded,
    CASE
      WHEN kind IN ('debit', 'refund')
        THEN (SELECT operations.at_ms FROM corrections WHERE id_key = subject_key AND id_tail = subject_tail
          AND corrections.operation_id = operations.id AND corrections.amount = abs(operations.amount)
          AND (charge_id IS NULL) = (kind = 'debit'))
      WHEN kind IN ('top_up', 'grant')
        THEN (SELECT operations.at_ms FROM credits WHERE id_key = subject_key AND id_tail = subject_tail
          AND credits.operation_id = operations.id AND credits.amount = operations.amount)
      WHEN kind = 'charge'
        THEN ifnull((SELECT at_ms FROM charges WHERE id_key = subject_key AND id_tail = subject_tail
          AND charges.operation_id = operations.id), operations.at_ms)
      WHEN kind = 'hold'
        THEN (SELECT placed_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND placed_by = operations.id)
      WHEN kind IN ('capture', 'release', 'expire')
        THEN (SELECT resolved_at_ms FROM holds WHERE id_key = subject_key AND id_tail = subject_tail
          AND resolved_by = operations.id)
      WHEN kind = 'compensation'
        THEN (SELECT operations.at_ms FROM attempts WHERE request_key = subject_key AND request_tail = subject_tail
          AND compensated_by = operations.id)
      WHEN kind = 'loss'
        THEN (SELECT loss_at_ms FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail
          AND loss_by = operations.id)
      ELSE operations.at_ms
    END AS subject_at_ms
  FROM operations WHERE id > ? ORDER BY id LIMIT ?`

const SELECT_CHARGES = `SELECT charges.*, content,
    (SELECT subject_key = id_key AND subject_tail = id_tail AND account_id = charges.account_id
        AND kind IN ('charge', 'capture') AND at_ms = charges.at_ms
      FROM operations WHERE operations.id = operation_id) AS is_of_operation,
    EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = api_key_id AND api_keys.account_id = charges.account_id)
      AS is_of_key
  FROM charges LEFT JOIN tariffs ON tariffs.id = tariff_id
  WHERE charges.id > ? ORDER BY charges.id LIMIT ?`

const SELECT_BALANCES = `SELECT accounts.id, balances.*, (
    SELECT ifnull(sum(amount), 0) FROM holds WHERE holds.account_id = accounts.id AND state = 'open'
  ) AS open_holds
  FROM accounts LEFT JOIN balances ON balances.account_id = accounts.id
  WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`
