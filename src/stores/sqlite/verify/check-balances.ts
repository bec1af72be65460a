import type { Database } from 'bun:sqlite'
import { books as everyBook } from '../../../domain/ledger/books.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import { standingFrom, type BalancesRow } from '../account-books.ts'
import type { EntryReader } from './entry-reader.ts'

const ACCOUNTS_A_TURN = 100

type Row = BalancesRow & { open_holds: bigint }

/**
 * The stored balances must be what the entries come to, and what is held what the open holds come to. Because the entries
 * of each operation sum to zero and stay within one account, available + held + spent = credited then holds for each.
 * Checks nothing where an entry is wrong: everything behind it would differ.
 */
export function* checkBalances(database: Database, entries: EntryReader): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(
    `SELECT balances.*, (
        SELECT ifnull(sum(amount), 0) FROM holds WHERE holds.account_id = balances.account_id AND state = 'open'
      ) AS open_holds
      FROM balances WHERE balances.account_id > ? ORDER BY balances.account_id LIMIT ?`,
  )
  let last = 0n
  while (entries.catchUp()) {
    const rows = select.all(last, ACCOUNTS_A_TURN)
    yield rows.flatMap(row => objectionsTo(row, entries).map(message => ({ entryId: null, message })))
    last = rows.at(-1)?.account_id ?? last
    if (rows.length < ACCOUNTS_A_TURN) return
  }
}

function objectionsTo(row: Row, entries: EntryReader): readonly string[] {
  const accountId = Number(row.account_id)
  const { balances, latestOperationId } = standingFrom(row)
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
  if (latestOperationId !== entries.latestOperationIdOf(accountId))
    objections.push(
      `Account ${accountId} has operation ${latestOperationId} as its latest, where ${entries.latestOperationIdOf(accountId)} is.`,
    )
  return objections
}
