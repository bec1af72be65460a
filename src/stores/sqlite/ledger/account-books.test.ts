import { describe, expect, test } from 'bun:test'
import { usd } from '../../../domain/money.ts'
import { anAccount } from '../../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { BooksOfAccounts } from './account-books.ts'
import { HintBroadcast } from './freed-hints.ts'

/** Keeps the books of two accounts in memory. */
async function openWithAccounts(count: number) {
  const store = aSqliteStore()
  for (let made = 0; made < count; made += 1) await anAccount(store, { funds: usd('5') })
  return new BooksOfAccounts(
    { ...store, tables: { operations: { nextId: 1n } }, hints: new HintBroadcast() },
    2,
  )
}

describe('books in memory', () => {
  test('books in memory make room for others if they are not in use', async () => {
    const books = await openWithAccounts(3)
    const first = books.of(1)
    books.of(2)

    books.of(3)

    expect(books.of(1)).not.toBe(first)
    expect(books.of(1).free).toBe(usd('5'))
  })

  test('books in memory stay while they count a hold that is only in memory', async () => {
    const books = await openWithAccounts(4)
    const first = books.of(1)
    first.heldText = usd('2')
    first.textHolds = 1

    for (const accountId of [2, 3, 4, 2, 3, 4]) books.of(accountId)

    expect(books.of(1)).toBe(first)
    expect(books.of(1).free).toBe(usd('3'))
  })
})
