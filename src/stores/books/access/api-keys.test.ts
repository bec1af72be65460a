import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { apiKeysConform } from '../../../../test/conformance/api-keys.ts'
import { keySecretsConform } from '../../../../test/conformance/key-secrets.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { anAccount, NOW } from '../../../../test/support/ledger-builders.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'

apiKeysConform(sqlite)
keySecretsConform(sqlite)
conformsOnPostgres(apiKeysConform, keySecretsConform)

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

test('days of use that were not written are written when the store closes, for any number of keys', async () => {
  const path = join(aDataFolder(), 'tollgate.db')
  const store = aSqliteStore(path)
  const accounts = await Promise.all(Array.from({ length: 600 }, () => anAccount(store)))
  const keys = await Promise.all(accounts.map(({ accountId }) => store.apiKeys.list(accountId)))
  for (const key of keys.flat()) store.apiKeys.noteUse(key, NOW)

  await store.close()

  const reopened = aSqliteStore(path)
  const days = reopened.database.query('SELECT DISTINCT last_used_day AS day FROM api_keys').all()
  expect(days).toEqual([{ day: BigInt(Math.floor(NOW / 86_400_000)) }])
})
