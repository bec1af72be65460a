import { expect, test } from 'bun:test'
import { accountsConform } from '../../../test/conformance/accounts.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'

accountsConform(sqlite)

test('a flood of bad keys is refused without waiting, and good ones go on', async () => {
  const store = aSqliteStore()
  const { accountId } = await anAccount(store)
  const [key] = await store.accounts.listKeys(accountId)
  const { hash } = store.database.query<{ hash: Uint8Array }, []>('SELECT hash FROM api_keys').get()!

  const answers = new Set(
    Array.from({ length: 20_000 }, (_, index) => store.accounts.authenticate(btoa(`${index}`))),
  )
  const good = store.accounts.authenticate(Buffer.from(hash).toString('base64'))

  expect(answers).toEqual(new Set([undefined]))
  expect(good).toMatchObject({ apiKey: key })
})
