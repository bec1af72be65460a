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

test('the contacts of the accounts of a page are read by an index, without those of other accounts', () => {
  const { database } = aSqliteStore()

  const plan = database
    .query<{ detail: string }, []>(
      `EXPLAIN QUERY PLAN SELECT account_id, address FROM mail_recipients WHERE account_id BETWEEN 1 AND 2 ORDER BY id`,
    )
    .all()

  expect(plan[0]?.detail).toBe(
    'SEARCH mail_recipients USING INDEX mail_recipients_by_account (account_id>? AND account_id<?)',
  )
})
