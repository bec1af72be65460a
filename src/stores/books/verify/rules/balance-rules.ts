import { books as everyBook } from '../../../../domain/ledger/books.ts'
import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import { booksStateFrom, type BalancesRow } from '../../rows/operation-rows.ts'
import type { EntryCheck } from './entry-rules.ts'
import { balanceKey, findingOf, type Finding } from '../findings.ts'

type StoredRow = BalancesRow & {
  id: bigint
  open_holds: bigint
  /** The stored sum of its open text holds, and what they add up to, where text holds are rows. */
  reserved?: bigint
  open_text?: bigint
}

/** The balances of an account, if it has them, with the sum of its open holds. */
export type CheckedBalances = StoredRow | { id: bigint; account_id: null }

/** All operations and charges that are not newer than the balances. */
type Checked = {
  readonly entries: EntryCheck
  /** The row id of the latest charge of each account; null if it has none. */
  readonly charges: { latestOf(accountId: number): bigint | null }
}

/**
 * The stored balances of each account must be the sums of its entries, and its held money the sum of its open holds.
 * The entries of each operation sum to zero and stay within one account, so available + held + spent = credited then
 * holds for each. Spent and credited leave out the loss operations, whose sum is stored too. The row must also name the
 * account's latest operation and charge. An account with a wrong entry is skipped.
 */
export function findingsOfBalances(row: CheckedBalances, checked: Checked): readonly Finding[] {
  const accountId = Number(row.id)
  if (checked.entries.fold.isWrong(accountId)) return []
  if (!hasBalances(row)) return [wrongBooks(accountId, { text: 'its balances are missing', key: 'balances' })]
  const wrong = [...wrongBalances(row, checked.entries), ...wrongEnds(row, checked)]
  return wrong.map(one => wrongBooks(accountId, one))
}

/** An account that has operations, but no row. */
export function findingOfDeletedAccount(accountId: number, { fold }: EntryCheck): Finding {
  const text = `the account is missing, but it has ${fold.operationsOf(accountId)} operations`
  return wrongBooks(accountId, { text, key: 'account' })
}

/** `key` stays the same while later operations change the amounts in the text. */
type Wrong = { readonly text: string; readonly key: string }

function wrongBalances(row: StoredRow, { fold }: EntryCheck): readonly Wrong[] {
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
  const { reserved = 0n, open_text: openText = reserved } = row
  if (reserved !== openText)
    problems.push({
      text: `its reserve for text is ${describeUsd(nanoUsd(reserved))}, but its open text holds add up to ${describeUsd(nanoUsd(openText))}`,
      key: `reserved ${reserved - openText}`,
    })
  return problems
}

function wrongEnds(row: StoredRow, { entries, charges }: Checked): readonly Wrong[] {
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

function wrongBooks(accountId: number, { text, key }: Wrong): Finding {
  return { ...findingOf(accountId, text), key: balanceKey(accountId, key) }
}

function hasBalances(row: CheckedBalances): row is StoredRow {
  return row.account_id !== null
}
