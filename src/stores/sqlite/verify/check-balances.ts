import type { Database } from 'bun:sqlite'
import { books as everyBook } from '../../../domain/ledger/books.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import { booksStateFrom, type BalancesRow } from '../../books/journal.ts'
import type { AccountNames } from './account-names.ts'
import type { ChargeReader } from './charge-reader.ts'
import type { EntryReader } from './entry-reader.ts'
import { balanceKey, type Finding } from './finding.ts'

const ACCOUNTS_A_TURN = 100

type Readers = { readonly entries: EntryReader; readonly charges: ChargeReader; readonly names: AccountNames }

/**
 * The stored balances of each account must be the sums of its entries, and its held money the sum of its open holds.
 * The entries of each operation sum to zero and stay within one account, so available + held + spent = credited then
 * holds for each. Spent and credited leave out the loss operations, whose sum is stored too. The row must also name the
 * account's latest operation and charge. An account with a wrong entry is skipped.
 */
export function* checkBalances(database: Database, readers: Readers): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedBalances, [bigint, number]>(SELECT)
  let last = 0n
  for (;;) {
    const found = [...readers.entries.catchUp(), ...readers.charges.catchUp()]
    const rows = select.all(last, ACCOUNTS_A_TURN)
    yield [...found, ...rows.flatMap(row => findingsOf(row, readers))]
    last = rows.at(-1)?.id ?? last
    if (rows.length < ACCOUNTS_A_TURN) break
  }
  yield* checkDeletedAccounts(database, readers)
}

/** Accounts that have operations, but no row. */
function* checkDeletedAccounts(
  database: Database,
  { entries, names }: Readers,
): Generator<readonly Finding[]> {
  const select = database.prepare<{ id: bigint }, [number]>('SELECT id FROM accounts WHERE id = ?')
  const { accountIds } = entries.fold
  for (let start = 0; start < accountIds.length; start += ACCOUNTS_A_TURN) {
    yield accountIds
      .slice(start, start + ACCOUNTS_A_TURN)
      .filter(accountId => select.get(accountId) === null)
      .map(accountId =>
        finding(accountId, {
          text: `the account is missing, but it has ${entries.fold.operationsOf(accountId)} operations`,
          key: 'account',
          names,
        }),
      )
  }
}

function findingsOf(row: CheckedBalances, { entries, charges, names }: Readers): readonly Finding[] {
  const accountId = Number(row.id)
  if (entries.fold.isWrong(accountId)) return []
  if (!hasBalances(row))
    return [finding(accountId, { text: 'its balances are missing', key: 'balances', names })]
  const wrong = [...wrongBalances(row, entries), ...wrongEnds(row, { entries, charges })]
  return wrong.map(one => finding(accountId, { ...one, names }))
}

/** `key` stays the same while later operations change the amounts in the text. */
type Wrong = { readonly text: string; readonly key: string }

function wrongBalances(row: StoredRow, { fold }: EntryReader): readonly Wrong[] {
  const { balances, bookedLosses } = booksStateFrom(row)
  const sums = fold.balancesOf(Number(row.account_id))
  const problems = everyBook
    .filter(book => balances[book] !== sums[book])
    .map(book => {
      const label = book === 'available' ? 'balance' : `"${book}"`
      return {
        text: `${label} is ${describeUsd(balances[book])}, but its entries add up to ${describeUsd(sums[book])}`,
        key: `${book} ${balances[book] - sums[book]}`,
      }
    })
  const losses = fold.lossesOf(Number(row.account_id))
  if (bookedLosses !== losses)
    problems.push({
      text: `its booked losses are ${describeUsd(bookedLosses)}, but its loss operations add up to ${describeUsd(losses)}`,
      key: `booked losses ${bookedLosses - losses}`,
    })
  const held = nanoUsd(row.open_holds)
  const media = balances['held.media']
  if (media !== held)
    problems.push({
      text: `"held.media" is ${describeUsd(media)}, but its open holds add up to ${describeUsd(held)}`,
      key: `open holds ${media - held}`,
    })
  return problems
}

function wrongEnds(
  row: StoredRow,
  { entries, charges }: Pick<Readers, 'entries' | 'charges'>,
): readonly Wrong[] {
  const accountId = Number(row.account_id)
  const { operationCount, latestOperationId, latestChargeId } = booksStateFrom(row)
  const ends = [
    { name: 'its number of operations', stored: operationCount, is: entries.fold.operationsOf(accountId) },
    { name: 'its latest operation', stored: latestOperationId, is: entries.latestOf(accountId) },
    { name: 'its latest charge', stored: latestChargeId, is: charges.latestOf(accountId) },
  ]
  return ends
    .filter(({ stored, is }) => stored !== is)
    .map(({ name, stored, is }) => ({ text: `${name} is ${stored}, but ${is} is the latest`, key: name }))
}

function finding(accountId: number, { text, key, names }: Wrong & { readonly names: AccountNames }): Finding {
  return {
    accountId,
    entryId: null,
    message: `${names.of(accountId)}: ${text}.`,
    key: balanceKey(accountId, key),
  }
}

const SELECT = `SELECT accounts.id, balances.*, (
    SELECT ifnull(sum(amount), 0) FROM holds WHERE holds.account_id = accounts.id AND state = 'open'
  ) AS open_holds
  FROM accounts LEFT JOIN balances ON balances.account_id = accounts.id
  WHERE accounts.id > ? ORDER BY accounts.id LIMIT ?`

type StoredRow = BalancesRow & { id: bigint; open_holds: bigint }
type CheckedBalances = StoredRow | { id: bigint; account_id: null }

function hasBalances(row: CheckedBalances): row is StoredRow {
  return row.account_id !== null
}
