import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { tamperFile } from '../../../../test/support/tamper.ts'
import { openAdmin } from '../../../app.ts'
import { readConfig } from '../../../config/config.ts'

type Admin = Awaited<ReturnType<typeof openAdmin>>

async function ask(admin: Admin, method: string, path: string, body?: object) {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
  const response = await admin.handle(new Request(`http://localhost/admin/api/${path}`, init))
  return { status: response.status, body: (await response.json()) as { data: object[] } }
}

test.each([
  ['DELETE FROM balances WHERE account_id = 2', { available_usd: null, held_usd: null }],
  ['UPDATE accounts SET created_at_ms = 9223372036854775807 WHERE id = 2', { created_at: null }],
  ['UPDATE balances SET available = -9223372036854775808 WHERE account_id = 2', { name: 'ben' }],
])('GET accounts lists every account although one has a bad row: %s', async (edit, damaged) => {
  const config = readConfig({ TOLLGATE_DATA_DIR: aDataFolder() })
  const before = await openAdmin(config)
  for (const name of ['ada', 'ben', 'cy']) await ask(before, 'POST', 'accounts', { name })
  await before.close()
  tamperFile(join(config.dataDir, 'tollgate.db'), edit)
  const admin = await openAdmin(config)

  const listed = await ask(admin, 'GET', 'accounts')
  const one = await ask(admin, 'GET', 'accounts/ben')
  await admin.close()

  expect(listed.status).toBe(200)
  expect(listed.body.data).toMatchObject([{ name: 'ada', available_usd: '0' }, damaged, { name: 'cy' }])
  expect(one).toMatchObject({ status: 200, body: damaged })
})
