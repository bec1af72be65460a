import type { Database } from 'bun:sqlite'
import { books as everyBook } from '../../../domain/ledger/books.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { Problem } from '../../../gateway/ports/ledger.ts'
import { booksStateFrom, type BalancesRow } from '../balances-table.ts'
import type { AccountNames } from './account-names.ts'
import type { ChargeReader } from './charge-reader.ts'
import type { EntryReader } from './entry-reader.ts'

const ACCOUNTS_A_TURN = 100

type Readers = { readonly entries: EntryReader; readonly charges: ChargeReader; readonly names: AccountNames }

/**
 * The stored balances of each account must be the sums of its entries, and its held money the sum of its open holds. The
 * entries of each operation sum to zero and stay within one account, so available + held + spent = credited then holds for
 * each. The row must also name the account's latest operation and charge. An account with a wrong entry is skipped.
 */
export function* checkBalances(database: Database, readers: Readers): Generator<readonly Problem[]> {
  const select = database.prepare<Row, [bigint, number]>(SELECT)
  let last = 0n
  for (;;) {
    const found = [...readers.entries.catchUp(), ...readers.charges.catchUp()]
    const rows = select.all(last, ACCOUNTS_A_TURN)
    yield [...found, ...rows.flatMap(row => problemsOf(row, readers))]
    last = rows.at(-1)?.id ?? last
    if (rows.length < ACCOUNTS_A_TURN) break
  }
  yield* checkDeletedAccounts(database, readers)
}

/** Accounts that have operations, but no row. */
function* checkDeletedAccounts(
  database: Database,
  { entries, names }: Readers,
): Generator<readonly Problem[]> {
  const select = database.prepare<{ id: bigint }, [number]>('SELECT id FROM accounts WHERE id = ?')
  const { accountIds } = entries.fold
  for (let start = 0; start < accountIds.length; start += ACCOUNTS_A_TURN) {
    yield accountIds
      .slice(start, start + ACCOUNTS_A_TURN)
      .filter(accountId => select.get(accountId) === null)
      .map(accountId =>
        problem(
          `${names.of(accountId)}: the account is missing, but it has ${entries.fold.operationsOf(accountId)} operations.`,
        ),
      )
  }
}

function problemsOf(row: Row, { entries, charges, names }: Readers): readonly Problem[] {
  const accountId = Number(row.id)
  if (entries.fold.isWrong(accountId)) return []
  const name = names.of(accountId)
  if (!hasBalances(row)) return [problem(`${name}: its balances are missing.`)]
  const problems = [
    ...wrongBalances(row, entries),
    ...wrongEnds(row, { entries, charges }).map(
      end => `${end.name} is ${end.stored}, but ${end.is} is the latest`,
    ),
  ]
  return problems.map(text => problem(`${name}: ${text}.`))
}

function wrongBalances(row: StoredRow, { fold }: EntryReader): readonly string[] {
  const { balances } = booksStateFrom(row)
  const sums = fold.balancesOf(Number(row.account_id))
  const problems = everyBook
    .filter(book => balances[book] !== sums[book])
    .map(book => {
      const label = book === 'available' ? 'balance' : `"${book}"`
      return `${label} is ${describeUsd(balances[book])}, but its entries add up to ${describeUsd(sums[book])}`
    })
  const held = nanoUsd(row.open_holds)
  if (balances['held.media'] !== held)
    problems.push(
      `"held.media" is ${describeUsd(balances['held.media'])}, but its open holds add up to ${describeUsd(held)}`,
    )
  return problems
}

type End = {
  readonly name: string
  readonly stored: number | bigint | null
  readonly is: number | bigint | null
}

function wrongEnds(row: StoredRow, { entries, charges }: Omit<Readers, 'names'>): readonly End[] {
  const accountId = Number(row.account_id)
  const { operationCount, latestOperationId, latestChargeId } = booksStateFrom(row)
  const ends: readonly End[] = [
    { name: 'its number of operations', stored: operationCount, is: entries.fold.operationsOf(accountId) },
    { name: 'its latest operation', stored: latestOperationId, is: entries.latestOf(accountId) },
    { name: 'its latest charge', stored: latestChargeId, is: charges.latestOf(accountId) },
  ]
  return ends.filter(({ stored, is }) => stored !== is)
}

function problem(message: string): Problem {
  return { entryId: null, message }
}

const SELECT = `SELECT accounts.id, balances.*, (
    SELECT ifnull(sum(amount), 0) FROM holds WHERE holds.account_id = accounts.id AND state = 'open'
  ) AS open_holds
  FROM accounts LEFT JOIN balances ON balances.account_id = accounts.id
  WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`

type StoredRow = BalancesRow & { id: bigint; open_holds: bigint }
type Row = StoredRow | { id: bigint; account_id: null }

function hasBalances(row: Row): row is StoredRow {
  return row.account_id !== null
}
