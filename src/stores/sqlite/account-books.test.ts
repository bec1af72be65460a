import { describe, expect, test } from 'bun:test'
import { usd } from '../../domain/money.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { createBooksOfAccounts, freeOf } from './account-books.ts'

async function openWithAccounts(count: number) {
  const store = aSqliteStore()
  for (let made = 0; made < count; made += 1) await anAccount(store, { funds: usd('5') })
  return createBooksOfAccounts(store.database, store.groupCommit, 2)
}

describe('the books in memory', () => {
  test('make room for others when they are not in use', async () => {
    const books = await openWithAccounts(3)
    const first = books.of(1)
    books.of(2)

    books.of(3)

    expect(books.of(1)).not.toBe(first)
    expect(freeOf(books.of(1))).toBe(usd('5'))
  })

  test('stay while a hold is only remembered in them', async () => {
    const books = await openWithAccounts(4)
    const first = books.of(1)
    first.heldInMemory = usd('2')
    first.holdsInMemory = 1

    for (const accountId of [2, 3, 4, 2, 3, 4]) books.of(accountId)

    expect(books.of(1)).toBe(first)
    expect(freeOf(books.of(1))).toBe(usd('3'))
  })
})
