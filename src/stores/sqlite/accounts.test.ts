import { expect, test } from 'bun:test'
import { accountsConform } from '../../../test/conformance/accounts.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'

accountsConform(sqlite)

test('a cursor of an earlier version, the number of an account, continues after that account', async () => {
  const store = aSqliteStore()
  for (let made = 0; made < 3; made += 1) await anAccount(store)

  const first = await store.accounts.listAccounts({ limit: 2 })
  const second = await store.accounts.listAccounts({ limit: 2, cursor: '2' })

  expect(first.next).toBe('r2')
  expect([first, second].map(page => page.accounts.map(({ id }) => id))).toEqual([[1, 2], [3]])
})

test('a flood of unknown keys is refused, and known keys still work', async () => {
  const store = aSqliteStore()
  const { accountId } = await anAccount(store)
  const [key] = await store.accounts.listKeys(accountId)
  const { hash } = store.database.query<{ hash: Uint8Array }, []>('SELECT hash FROM api_keys').get()!
  const flood = Array.from({ length: 20_000 }, (_, index) => store.accounts.authenticate(btoa(`${index}`)))

  const answers = new Set(await Promise.all(flood))
  const known = await store.accounts.authenticate(Buffer.from(hash).toString('base64'))

  expect(answers).toEqual(new Set([undefined]))
  expect(known).toMatchObject({ apiKey: key })
})
