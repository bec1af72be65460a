import { expect, test } from 'bun:test'
import { accountsConform } from '../../../../test/conformance/accounts.ts'
import { closedAccountsConform } from '../../../../test/conformance/closed-accounts.ts'
import { anAccount } from '../../../../test/support/ledger-builders.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'

accountsConform(sqlite)
closedAccountsConform(sqlite)
conformsOnPostgres(accountsConform, closedAccountsConform)

test('a cursor of an earlier version, the number of an account, continues after that account', async () => {
  const store = aSqliteStore()
  for (let made = 0; made < 3; made += 1) await anAccount(store)

  const first = await store.accounts.listAccounts({ limit: 2 })
  const second = await store.accounts.listAccounts({ limit: 2, cursor: '2' })

  expect(first.next).toBe('r2')
  expect([first, second].map(page => page.accounts.map(({ id }) => id))).toEqual([[1, 2], [3]])
})
