import {
  findingOfDeletedAccount,
  findingsOfBalances,
  type CheckedBalances,
} from '../../books/verify/rules/balance-rules.ts'
import {
  findingOfLooseCharge,
  findingsOfCharge,
  type CheckedCharge,
  type LooseCharge,
} from '../../books/verify/rules/charge-rules.ts'
import { EntryCheck, type OperationRow } from '../../books/verify/rules/entry-rules.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { BALANCES, CHARGES, OPERATIONS } from '../../books/verify/money-queries.ts'
import type { BalancesRow } from '../../books/rows/operation-rows.ts'
import type { CheckedBooks } from './checked-books.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Reads the operations, account by account, then the charges, then the balances for their checks. With `checked`, only
 * operations and charges that are new since then, which must go on from the balances that were checked.
 */
export class BalancesReader {
  readonly #entries = new EntryCheck()
  readonly #snapshot: Snapshot
  readonly #checked: CheckedBooks | undefined
  /** The latest charge of each account. */
  readonly #latestCharges = new Map<number, bigint>()

  constructor(snapshot: Snapshot, checked: CheckedBooks | undefined) {
    this.#snapshot = snapshot
    this.#checked = checked
  }

  /** The correct entries until now. */
  get entries(): number {
    return (this.#checked?.entries ?? 0) + this.#entries.fold.entries
  }

  async *check(): AsyncGenerator<readonly Finding[]> {
    const [snapshot, checked] = [this.#snapshot, this.#checked]
    if (checked !== undefined)
      for await (const rows of snapshot.rows<BalancesRow>('SELECT * FROM checked_balances')) this.#goOn(rows)
    const which = checked === undefined ? WHOLE : queriesSince(checked)
    for await (const rows of snapshot.rows<OperationRow>(which.operations))
      yield rows.flatMap(row => this.#entries.add(row) ?? [])
    for await (const rows of snapshot.rows<CheckedCharge>(which.charges)) yield rows.flatMap(findingsOfCharge)
    for await (const rows of snapshot.rows<LooseCharge>(which.looseCharges))
      yield rows.map(findingOfLooseCharge)
    for await (const rows of snapshot.rows<LatestCharge>(which.latestCharges))
      for (const { account_id: accountId, id } of rows) this.#latestCharges.set(Number(accountId), id)
    yield* this.#checkBalances()
  }

  #goOn(rows: readonly BalancesRow[]): void {
    for (const row of rows) {
      this.#entries.goOn(row)
      if (row.latest_charge_id !== null) this.#latestCharges.set(Number(row.account_id), row.latest_charge_id)
    }
  }

  async *#checkBalances(): AsyncGenerator<readonly Finding[]> {
    const checked = {
      entries: this.#entries,
      charges: { latestOf: (accountId: number) => this.#latestCharges.get(accountId) ?? null },
    }
    const accountIds = new Set<number>()
    for await (const rows of this.#snapshot.rows<CheckedBalances>(BALANCES_WITH_TEXT)) {
      for (const { id } of rows) accountIds.add(Number(id))
      yield rows.flatMap(row => findingsOfBalances(row, checked))
    }
    yield this.#entries.fold.accountIds
      .filter(accountId => !accountIds.has(accountId))
      .map(accountId => findingOfDeletedAccount(accountId, this.#entries))
  }
}

type LatestCharge = { account_id: bigint; id: bigint }

const IN_ORDER = { operations: 'ORDER BY account_id, number, id', charges: 'ORDER BY charges.id' }

/** Charges with whether the account has the charge that they name, and which of those that name it they are. */
const LINKS = `SELECT charges.id, charges.id_key, charges.id_tail, charges.account_id, charges.previous_id,
    charges.previous_id IS NULL OR named.id IS NOT NULL AS is_named,
    row_number() OVER (PARTITION BY charges.account_id, charges.previous_id ORDER BY charges.id) AS place
  FROM charges LEFT JOIN charges AS named ON named.id = charges.previous_id
    AND named.account_id = charges.account_id AND named.id <> charges.id`

const WHOLE = {
  operations: `${OPERATIONS} ${IN_ORDER.operations}`,
  charges: `${CHARGES} ${IN_ORDER.charges}`,
  /** The charges that do not continue the charges of their account, or that continue one that another continues too. */
  looseCharges: `SELECT id_key, id_tail, account_id, previous_id, is_named FROM (${LINKS}) AS link
    WHERE NOT is_named OR place > 1 ORDER BY id`,
  /**
   * The charges that no other names. If an account has several, one of its charges is loose; that of the balances is
   * last then, so that it is not reported twice.
   */
  latestCharges: `SELECT charges.account_id, charges.id FROM charges
      LEFT JOIN balances ON balances.account_id = charges.account_id AND latest_charge_id = charges.id
    WHERE NOT EXISTS (SELECT FROM charges AS later
      WHERE later.account_id = charges.account_id AND later.previous_id = charges.id)
    ORDER BY charges.account_id, latest_charge_id IS NOT NULL, charges.id`,
} as const

/**
 * The same of new rows. Each charge until then but the latest one of an account is named by another one, so a new one
 * must name that or a new one.
 */
function queriesSince(checked: CheckedBooks): Record<keyof typeof WHOLE, string> {
  const isNew = checked.isNew('charges.id')
  return {
    operations: `${OPERATIONS} WHERE ${checked.isNew('operations.id')} ${IN_ORDER.operations}`,
    charges: `${CHARGES} WHERE ${isNew} ${IN_ORDER.charges}`,
    looseCharges: `SELECT id_key, id_tail, account_id, previous_id, is_named
      FROM (${LINKS} WHERE ${isNew}) AS link LEFT JOIN checked_balances AS checked USING (account_id)
      WHERE NOT is_named OR place > 1 OR (
        previous_id IS DISTINCT FROM checked.latest_charge_id AND (${checked.isNew('previous_id')}) IS NOT TRUE
      ) ORDER BY id`,
    latestCharges: `WITH fresh AS MATERIALIZED (SELECT account_id, id, previous_id FROM charges WHERE ${isNew})
      SELECT fresh.account_id, fresh.id FROM fresh
        LEFT JOIN balances ON balances.account_id = fresh.account_id AND latest_charge_id = fresh.id
      WHERE NOT EXISTS (SELECT FROM fresh AS later
        WHERE later.account_id = fresh.account_id AND later.previous_id = fresh.id)
      ORDER BY fresh.account_id, latest_charge_id IS NOT NULL, fresh.id`,
  }
}

const BALANCES_WITH_TEXT = `SELECT checked.*, coalesce(text_held.amount, 0) AS open_text FROM (${BALANCES}) AS checked
    LEFT JOIN (
      SELECT account_id, CAST(sum(amount) AS bigint) AS amount FROM text_holds WHERE expired_at_ms IS NULL
        GROUP BY account_id
    ) AS text_held ON text_held.account_id = checked.id
  ORDER BY checked.id`
