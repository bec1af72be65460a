import { expect, test } from 'bun:test'
import { apiKeysConform } from '../../../test/conformance/api-keys.ts'
import { keySecretsConform } from '../../../test/conformance/key-secrets.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'

apiKeysConform(sqlite)
keySecretsConform(sqlite)

test('a flood of unknown keys is refused, and known keys still work', async () => {
  const store = aSqliteStore()
  const { accountId } = await anAccount(store)
  const [key] = await store.apiKeys.list(accountId)
  const { hash } = store.database.query<{ hash: Uint8Array }, []>('SELECT hash FROM api_keys').get()!
  const flood = Array.from({ length: 20_000 }, (_, index) => store.apiKeys.authenticate(btoa(`${index}`)))

  const answers = new Set(await Promise.all(flood))
  const known = await store.apiKeys.authenticate(Buffer.from(hash).toString('base64'))

  expect(answers).toEqual(new Set([undefined]))
  expect(known).toMatchObject({ apiKey: key })
})
