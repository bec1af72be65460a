import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { usd } from '../../../src/domain/money.ts'
import { aDataFolder } from '../../support/data-folder.ts'
import { aCharge, anAccount, hold } from '../../support/ledger-builders.ts'
import { anEmptyDatabase } from '../../support/postgres/databases.ts'
import { Proxy } from '../../support/postgres/proxy.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { runCli, startCli } from '../../support/run-cli.ts'
import { aSqliteStore } from '../../support/test-store.ts'

const server = await runServer()
const CHARGES = 10_000
/** The statement that copies them. Functions of the database also insert charges. */
const COPIES_CHARGES = /INSERT INTO charges \([^)]*\) SELECT \* FROM unnest/
const SECRET_KEY = Buffer.alloc(32).toString('base64')

/** A data folder with many charges of two accounts. */
async function aLargeFolder(): Promise<string> {
  const dataDir = aDataFolder()
  writeFileSync(join(dataDir, 'secret.key'), SECRET_KEY)
  const store = aSqliteStore(join(dataDir, 'tollgate.db'))
  const payers = [
    await anAccount(store, { funds: usd('9000') }),
    await anAccount(store, { funds: usd('9000') }),
  ]
  for (let charges = 0; charges < CHARGES; charges += 500)
    await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const { accountId, apiKeyId } = payers[index % 2]!
        const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
        await store.ledger.captureHold(held, aCharge(apiKeyId, { tokens: 1 }))
      }),
    )
  await store.close()
  return dataDir
}

describe.skipIf(server === undefined)('the command "migrate-store"', () => {
  test('books are copied by a command that is killed and repeated, and gateways go on with them', async () => {
    const settings = {
      TOLLGATE_DATA_DIR: await aLargeFolder(),
      TOLLGATE_DATABASE_URL: await anEmptyDatabase(server!),
      TOLLGATE_SECRET_KEY: SECRET_KEY,
      TOLLGATE_ADMIN_KEY: 'tg_admin_of_the_copy',
    }

    const { pathname, port } = new URL(settings.TOLLGATE_DATABASE_URL)
    const place = `${pathname.slice(1)} on 127.0.0.1, port ${port}`

    const proxy = Proxy.to(settings.TOLLGATE_DATABASE_URL)
    // The copy of the charges cannot end before the kill.
    proxy.holdFrom = COPIES_CHARGES
    const throughProxy = { TOLLGATE_DATABASE_URL: proxy.url(settings.TOLLGATE_DATABASE_URL) }
    const killed = startCli(['migrate-store'], { ...settings, ...throughProxy })
    await read(killed.stderr, `Copying ${CHARGES} rows of charges`)
    killed.kill('SIGKILL')
    await killed.exited
    proxy.stop()
    const tooEarly = await runCli(['accounts', 'list'], settings)
    const copied = await runCli(['migrate-store', '--json'], settings)
    const again = await runCli(['migrate-store'], settings)
    const verified = await runCli(['verify', '--json'], settings)

    expect(tooEarly).toMatchObject({ code: 1, err: expect.stringContaining('unfinished copy') })
    expect(copied).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(copied.out)).toMatchObject({ copied_now: true, accounts: 2, charges: CHARGES })
    expect(again).toMatchObject({
      code: 0,
      err: expect.stringContaining(`into the database ${place} …`),
      out: expect.stringContaining(`into the database ${place} before`),
    })
    expect(JSON.parse(verified.out)).toMatchObject({ ok: true, problems: [] })
  })

  test('without a database or without books, the command "migrate-store" says what to set', async () => {
    const database = {
      TOLLGATE_DATABASE_URL: await anEmptyDatabase(server!),
      TOLLGATE_SECRET_KEY: SECRET_KEY,
      TOLLGATE_ADMIN_KEY: 'tg_admin_of_the_copy',
    }
    const TOLLGATE_DATA_DIR = aDataFolder()

    const withoutDatabase = await runCli(['migrate-store'], { TOLLGATE_DATA_DIR })
    const withoutBooks = await runCli(['migrate-store'], { TOLLGATE_DATA_DIR, ...database })

    expect(withoutDatabase).toMatchObject({
      code: 1,
      err: expect.stringContaining('Set TOLLGATE_DATABASE_URL'),
    })
    expect(withoutBooks).toMatchObject({ code: 1, err: expect.stringContaining('There are no books in') })
  })
})

/** Reads until a text came. */
async function read(stream: ReadableStream<Uint8Array>, text: string): Promise<void> {
  const decoder = new TextDecoder()
  let found = ''
  for await (const chunk of stream) {
    found += decoder.decode(chunk, { stream: true })
    if (found.includes(text)) return
  }
  throw new Error(`The command ended without "${text}": ${found}`)
}
