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
import type { Snapshot } from './snapshot.ts'

/** Reads the operations, account by account, then the charges, then the balances for their checks. */
export class BalancesReader {
  readonly entries = new EntryCheck()
  readonly #snapshot: Snapshot
  /** The latest charge of each account. */
  readonly #latestCharges = new Map<number, bigint>()

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  async *check(): AsyncGenerator<readonly Finding[]> {
    const operations = this.#snapshot.rows<OperationRow>(`${OPERATIONS} ORDER BY account_id, number, id`)
    for await (const rows of operations) yield rows.flatMap(row => this.entries.add(row) ?? [])
    const charges = this.#snapshot.rows<CheckedCharge>(`${CHARGES} ORDER BY charges.id`)
    for await (const rows of charges) yield rows.flatMap(findingsOfCharge)
    for await (const rows of this.#snapshot.rows<LooseCharge>(LOOSE_CHARGES))
      yield rows.map(findingOfLooseCharge)
    yield* this.#checkBalances()
  }

  async *#checkBalances(): AsyncGenerator<readonly Finding[]> {
    for await (const rows of this.#snapshot.rows<LatestCharge>(LATEST_CHARGES))
      for (const { account_id: accountId, id } of rows) this.#latestCharges.set(Number(accountId), id)
    const checked = {
      entries: this.entries,
      charges: { latestOf: (accountId: number) => this.#latestCharges.get(accountId) ?? null },
    }
    const accountIds = new Set<number>()
    for await (const rows of this.#snapshot.rows<CheckedBalances>(BALANCES_WITH_TEXT)) {
      for (const { id } of rows) accountIds.add(Number(id))
      yield rows.flatMap(row => findingsOfBalances(row, checked))
    }
    yield this.entries.fold.accountIds
      .filter(accountId => !accountIds.has(accountId))
      .map(accountId => findingOfDeletedAccount(accountId, this.entries))
  }
}

type LatestCharge = { account_id: bigint; id: bigint }

/** The charges that do not continue the charges of their account, or that continue one that another continues too. */
const LOOSE_CHARGES = `SELECT id_key, id_tail, account_id, previous_id, is_named FROM (
    SELECT charges.id, charges.id_key, charges.id_tail, charges.account_id, charges.previous_id,
        charges.previous_id IS NULL OR named.id IS NOT NULL AS is_named,
        row_number() OVER (PARTITION BY charges.account_id, charges.previous_id ORDER BY charges.id) AS place
      FROM charges LEFT JOIN charges AS named ON named.id = charges.previous_id
        AND named.account_id = charges.account_id AND named.id <> charges.id
  ) AS link WHERE NOT is_named OR place > 1 ORDER BY id`

/**
 * The charges that no other names. If an account has several, one of its charges is loose; that of the balances is last
 * then, so that it is not reported twice.
 */
const LATEST_CHARGES = `SELECT charges.account_id, charges.id FROM charges
    LEFT JOIN balances ON balances.account_id = charges.account_id AND latest_charge_id = charges.id
  WHERE NOT EXISTS (SELECT FROM charges AS later
    WHERE later.account_id = charges.account_id AND later.previous_id = charges.id)
  ORDER BY charges.account_id, latest_charge_id IS NOT NULL, charges.id`

const BALANCES_WITH_TEXT = `SELECT checked.*, coalesce(text_held.amount, 0) AS open_text FROM (${BALANCES}) AS checked
    LEFT JOIN (
      SELECT account_id, CAST(sum(amount) AS bigint) AS amount FROM text_holds WHERE expired_at_ms IS NULL
        GROUP BY account_id
    ) AS text_held ON text_held.account_id = checked.id
  ORDER BY checked.id`
