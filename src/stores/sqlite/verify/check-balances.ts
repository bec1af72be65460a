import type { Database, Statement } from 'bun:sqlite'
import { books as everyBook } from '../../../domain/ledger/books.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import { booksStateFrom, type BalancesRow } from '../balances-table.ts'
import type { EntryReader } from './entry-reader.ts'

const ACCOUNTS_A_TURN = 100
/** So many free charges in a row are walked back over to find the last one that moved money. */
const FREE_CHARGES_MAX = 1000

type Row = BalancesRow & { open_holds: bigint }

/**
 * The stored balances must be what the entries come to, and what is held what the open holds come to. Because the entries
 * of each operation sum to zero and stay within one account, available + held + spent = credited then holds for each.
 * Each account's chains must end where its operations and charges do. Checks nothing where an entry is wrong: everything behind it would differ.
 */
export function* checkBalances(database: Database, entries: EntryReader): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT balances.*, (
        SELECT ifnull(sum(amount), 0) FROM holds WHERE holds.account_id = balances.account_id AND state = 'open'
      ) AS open_holds
      FROM balances WHERE balances.account_id > ? ORDER BY balances.account_id LIMIT ?`,
  )
  const selectCharge = database.prepare<ChargeRow, [bigint]>(
    'SELECT account_id, previous_id, operation_id FROM charges WHERE id = ?',
  )
  let last = 0n
  while (entries.catchUp()) {
    const rows = select.all(last, ACCOUNTS_A_TURN)
    yield rows
      .flatMap(row => [...objectionsTo(row, entries), ...objectionsToEnds(row, entries, selectCharge)])
      .map(message => ({ entryId: null, message }))
    last = rows.at(-1)?.account_id ?? last
    if (rows.length < ACCOUNTS_A_TURN) return
  }
}

function objectionsTo(row: Row, entries: EntryReader): readonly string[] {
  const accountId = Number(row.account_id)
  const { balances } = booksStateFrom(row)
  const folded = entries.fold.balancesOf(accountId)
  const objections = everyBook
    .filter(book => balances[book] !== folded[book])
    .map(
      book =>
        `Account ${accountId} has ${balances[book]} stored in "${book}", where its entries come to ${folded[book]}.`,
    )
  if (balances['held.media'] !== row.open_holds)
    objections.push(
      `Account ${accountId} has ${balances['held.media']} in "held.media", where its open holds come to ${row.open_holds}.`,
    )
  return objections
}

function objectionsToEnds(row: Row, entries: EntryReader, selectCharge: SelectCharge): readonly string[] {
  const accountId = Number(row.account_id)
  const { latestOperationId, latestChargeId } = booksStateFrom(row)
  const ends = entries.endsOf(accountId)
  const operationId = ends?.operationId ?? null
  const objections: string[] = []
  if (latestOperationId !== operationId)
    objections.push(
      `Account ${accountId} has operation ${latestOperationId} as its latest, where ${operationId} is.`,
    )
  if (!leadsTo(ends?.chargeOperationId ?? null, row.account_id, latestChargeId, selectCharge))
    objections.push(
      `Account ${accountId} has charge ${latestChargeId} as its latest, which does not lead to the one of operation ${ends?.chargeOperationId ?? null}.`,
    )
  return objections
}

/** Whether the first charge that moved money, back from the latest, is that of the account's last operation of a charge. */
function leadsTo(
  operationId: bigint | null,
  accountId: bigint,
  latestChargeId: bigint | null,
  selectCharge: SelectCharge,
): boolean {
  let next = latestChargeId
  for (let walked = 0; walked < FREE_CHARGES_MAX; walked += 1) {
    if (next === null) return operationId === null
    const charge = selectCharge.get(next)
    if (charge === null || charge.account_id !== accountId) return false
    if (charge.operation_id !== null) return charge.operation_id === operationId
    next = charge.previous_id
  }
  return true
}

type ChargeRow = { account_id: bigint; previous_id: bigint | null; operation_id: bigint | null }
type SelectCharge = Statement<ChargeRow, [bigint]>
