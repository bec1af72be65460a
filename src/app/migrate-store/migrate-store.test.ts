import type { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { aKeyIn, aProject, at } from '../../../test/support/account-builders.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aJob, jobIn, type Payer } from '../../../test/support/job-builders.ts'
import {
  aBill,
  aCharge,
  aCredit,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  changeLimits,
  hold,
  NOW,
} from '../../../test/support/ledger-builders.ts'
import { aDatabase, anEmptyDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { tamperFile } from '../../../test/support/tamper.ts'
import { aSqliteStore, type TestSqlite, type TestStore } from '../../../test/support/test-store.ts'
import { databaseAddress } from '../../config/forms/servers.ts'
import type { CatalogSettings } from '../../domain/catalog/catalog.ts'
import { decodeCatalog } from '../../domain/catalog/rows/catalog-rows.ts'
import { usd } from '../../domain/money.ts'
import { connections } from '../../stores/postgres/database/database.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { CopiedBooks } from '../../stores/sqlite/database/copied-books.ts'
import { lockFolder } from '../../stores/sqlite/database/folder-lock.ts'
import { openDataFolder } from '../data-folder.ts'
import { migrateStore, type MigrateStoreParts } from './migrate-store.ts'

const server = await runServer()
const FIXTURE = resolve(import.meta.dirname, '../../../test/fixtures/schema-5')
const KEY = new Uint8Array(32)
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Copies the books of a folder, with the key of the tests. */
function copy(dataDir: string, url: string, change: Partial<MigrateStoreParts> = {}) {
  const folder = openDataFolder(dataDir)
  const to = {
    database: databaseAddress.parse(url)!,
    databaseOwner: undefined,
    secretKey: KEY,
    nowMs: () => NOW,
  }
  return migrateStore({ folder, anchorPath: folder.anchor, ...to, ...change })
}

/** A data folder whose books a test makes. */
async function aFolder(use: (store: TestSqlite) => unknown): Promise<string> {
  const dataDir = aDataFolder()
  writeFileSync(join(dataDir, 'secret.key'), Buffer.from(KEY).toString('base64'))
  const store = aSqliteStore(join(dataDir, 'tollgate.db'))
  await use(store)
  await store.close()
  return dataDir
}

/** Books with rows in every table. */
async function useEverything(store: TestSqlite): Promise<void> {
  const { ledger, jobs, attempts, apiKeys, adminTokens, catalog } = store
  const ada = await anAccount(store, { funds: usd('1000'), name: 'ada "{\\\\}\' Ünï 🙂' })
  const ben = await anAccount(store, { funds: usd('5'), name: 'NULL' })
  for (const payer of [ada, ben]) {
    const budgets = { month: usd('900') }
    await changeLimits(store, payer, { limits: { requests_per_minute: 60, concurrent_requests: 9 }, budgets })
    for (let charges = 0; charges < 3; charges += 1) await chargeOne(store, payer)
  }
  const [latest] = await ledger.usage(ada.accountId, { limit: 1 })
  await ledger.refund({ id: anId(), charge: latest!.id, amount: usd('1'), audit: anAudit() })
  await ledger.debit({ id: anId(), accountId: 1, amount: usd('2'), allowNegative: false, audit: anAudit() })
  await jobs.create(aJob(ada, { idempotency: { key: 'a key', fingerprint: 'f' } }))
  for (const state of ['processing', 'completed', 'failed'] as const) await jobIn(state, jobs, aJob(ada))
  const attempt = anAttempt(ada)
  await attempts.record(attempt)
  await attempts.bill({ requestId: attempt.requestId, number: 1 }, aBill())
  const [key] = await apiKeys.list(ada.accountId)
  const secret = { hash: random32(), prefix: 'tg_live_next', oldEndsAtMs: NOW + 1000 }
  await apiKeys.rotate(key!.publicId, secret, at(NOW))
  await aKeyIn(store, await aProject(store, ada))
  const terms = { scopes: ['read'], grantsPerDay: null, expiresAtMs: null } as const
  const token = { publicId: 'tok_1', name: 'bookkeeper', hash: random32(), prefix: 'tg_admin_abcd' }
  await adminTokens.create({ ...token, ...terms, audit: anAudit() })
  const ids = ['Z', 'a', 'a_b']
  await catalog.replace(catalogOf(ids), anAudit())
  await catalog.replace(catalogOf(ids.slice(1)), anAudit())
  await catalog.putPriceList({ id: 'partner', factor: 800_000_000n, prices: new Map() }, anAudit())
  await store.keyDefaults.change({ limits: { requests_per_minute: 5 } }, at(NOW))
  store.database.run(REST)
}

/** A catalog with a stored key, and models of these ids. */
function catalogOf(ids: readonly string[]): CatalogSettings {
  const providers = [
    { id: 'main', kind: 'openai-compatible', base_url: 'https://a.example.com', api_key: 'sk-1' },
  ]
  const terms = { max_output_tokens: 8, context_window: 100, pricing: 'free' }
  const upstreams = [{ provider: 'main', model: 'gpt-x' }]
  const decoded = decodeCatalog({
    providers,
    models: ids.map(id => ({ id, kind: 'chat', upstreams, ...terms })),
  })
  if (!decoded.ok) throw new Error(JSON.stringify(decoded))
  return decoded.value
}

async function chargeOne({ ledger }: Pick<TestSqlite, 'ledger'>, payer: Payer): Promise<void> {
  const held = await hold(ledger, { accountId: payer.accountId, kind: 'text', amount: usd('1') })
  const tags = new Map([['team', 'a "b" {c} \\\\']])
  await ledger.captureHold(held, { ...aCharge(payer.apiKeyId, { tokens: 1 }), tags, userId: 'NULL' })
}

function random32(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}

/** Rows that no hash covers. */
const REST = `
  INSERT INTO users (id, public_id, email, name, role, created_by, created_at_ms) VALUES (2, 'usr_1', 'a@b', 'A', 'owner', 'x', 1);
  INSERT INTO user_sessions VALUES (3, 'ses_1', 2, zeroblob(32), '::1', 'agent', 1, 1);
  INSERT INTO user_links VALUES (4, zeroblob(32), 'reset', 2, 1, 2);
  INSERT INTO balance_alerts VALUES (1, 5, 0);
  INSERT INTO budget_alerts VALUES (1, 'key', 1, '', 'day', 0, 5, 1, 0);
  INSERT INTO expiry_alerts VALUES (1, '2027');
  INSERT INTO job_alerts VALUES (1);
  INSERT INTO provider_alerts VALUES ('p', '[]', 1);
  INSERT INTO webhooks (id, public_id, url, events, note, secret, created_at_ms) VALUES (7, 'w', 'u', '[]', '', x'', 1);
  INSERT INTO webhook_events VALUES (9, 'e', 't', '{"a":"\\"}', 1, NULL);
  INSERT INTO webhook_messages (id, public_id, webhook_id, event_id, state) VALUES (3, 'm', 7, 9, 'failed');
  INSERT INTO mail_recipients (id, address) VALUES (4, 'Ops@example.com'), (5, 'ops2@example.com');
  INSERT INTO mail_messages (id, public_id, recipient_id, event_id, queued_at_ms, state) VALUES (8, 'x', 4, 9, 1, 'sent');
  UPDATE mail_state SET is_on = 1, per_day = 7;`

/** The books of a gateway of an early version, whose answer was late when it was killed. */
function anEarlyFolder(): { readonly dataDir: string; readonly secretKey: Uint8Array } {
  const dataDir = aDataFolder()
  const database = new Database(join(dataDir, 'tollgate.db'))
  database.run(readFileSync(join(FIXTURE, 'books.sql'), 'utf8'))
  database.close()
  const seen = JSON.parse(readFileSync(join(FIXTURE, 'seen.json'), 'utf8')) as { secretKey: string }
  writeFileSync(join(dataDir, 'secret.key'), seen.secretKey)
  return { dataDir, secretKey: Buffer.from(seen.secretKey, 'base64') }
}

/** What customers see of their accounts. */
async function viewOf({ accounts, ledger }: Pick<TestSqlite, 'accounts' | 'ledger'>) {
  const found = await accounts.listAccounts({ limit: 100 })
  return Promise.all(
    found.accounts.map(async account => ({
      account,
      balance: await ledger.balance(account.id),
      statement: await ledger.statement(account.id, { limit: 100 }),
      usage: await ledger.usage(account.id, { limit: 100 }),
    })),
  )
}

/** A node of a database. */
async function aNodeOf(url: string): Promise<TestStore> {
  const node = await aNode(url, 'one', fakeClock())
  ends.push(() => node.close())
  return node
}

function connect(url: string): SQL {
  const sql = connections({ url }).connect()
  ends.push(() => sql.close())
  return sql
}

/** Books with a charge. */
function aSmallFolder(): Promise<string> {
  return aFolder(async store => chargeOne(store, await anAccount(store, { funds: usd('5') })))
}

const stop = new Error('Stopped by the test.')

function stopNow(): never {
  throw stop
}

/** Stops a copy whose rows are all there. */
function stopAtEnd(step: string): void {
  if (step === 'Comparing all rows') throw stop
}

describe.skipIf(server === undefined)('books that are copied to PostgreSQL', () => {
  test('every table of SQLite is copied, or is one of the named exceptions', async () => {
    await aFolder(store => {
      const copied = new CopiedBooks(store.database).tables.map(({ name }) => name)
      const all = store.database
        .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .all()
      expect([...copied, 'migrations', 'usage_days_by_account', 'usage_rebuild'].toSorted()).toEqual(
        all.map(({ name }) => name),
      )
    })
  })

  test('rows of every table are copied, and a node goes on with them', async () => {
    const dataDir = await aFolder(async store => {
      await useEverything(store)
      const books = new CopiedBooks(store.database)
      expect(books.tables.filter(table => books.count(table) === 0)).toEqual([])
    })
    const url = await aDatabase(server!)

    const copied = await copy(dataDir, url)

    expect(copied).toMatchObject({ isNew: true, charges: 7, accounts: 2 })
    const node = await aNodeOf(url)
    const source = aSqliteStore(join(dataDir, 'tollgate.db'))
    ends.push(() => source.close())
    expect(await viewOf(node)).toEqual(await viewOf(source))
    expect(node.catalog.current()).toEqual(source.catalog.current())
    expect(node.catalog.current().providers.size).toBeGreaterThan(0)
    const cleo = await anAccount(node, { funds: usd('3') })
    await chargeOne(node, cleo)
    await chargeOne(node, { accountId: 1, apiKeyId: 1 })
    expect(cleo.accountId).toBe(3)
    expect((await node.ledger.verify()).problems).toEqual([])
  })

  test('what was spent and what is open counts for the limits of a copy', async () => {
    const dataDir = await aFolder(useEverything)
    const url = await aDatabase(server!)

    await copy(dataDir, url)

    const rows = await connect(
      url,
    )`SELECT account_id, running, reserved_media, requests_per_minute, month_budget,
      total_spent, limit_kinds FROM limits JOIN balances USING (account_id) ORDER BY account_id`
    expect([...rows]).toMatchObject([
      {
        running: 2n,
        reserved_media: usd('8'),
        requests_per_minute: 60n,
        month_budget: usd('900'),
        limit_kinds: 8n,
      },
      {
        running: 0n,
        reserved_media: 0n,
        requests_per_minute: 60n,
        month_budget: usd('900'),
        limit_kinds: 8n,
      },
    ])
  })

  test('the books of an early version are copied, with the commits of its migrations', async () => {
    const { dataDir, secretKey } = anEarlyFolder()
    const url = await anEmptyDatabase(server!)

    const copied = await copy(dataDir, url, { secretKey })
    const again = await copy(dataDir, url, { secretKey })

    expect(copied).toMatchObject({ isNew: true, accounts: 2 })
    expect(again).toEqual({ ...copied, isNew: false })
    const sql = connect(url)
    expect([...(await sql`SELECT id, checksums FROM commits WHERE id <= 0 ORDER BY id`)]).toEqual([
      { id: -1n, checksums: null },
      { id: 0n, checksums: null },
    ])
  })

  test('a copy that is stopped after every batch and every step goes on, and writes nothing twice', async () => {
    const dataDir = await aFolder(useEverything)
    const url = await aDatabase(server!)
    const stops: string[] = []
    const stopOnce = (place: string) => {
      if (stops.includes(place)) return
      stops.push(place)
      throw stop
    }
    const stopped = () =>
      copy(dataDir, url, {
        rowsAtOnce: 7,
        onStep: step => step.startsWith('Copying') || stopOnce(step),
        onRows: (table, rows) => stopOnce(`${table} ${rows}`),
      })

    let error: unknown
    do error = await rejection(stopped()).catch(() => undefined)
    while (error === stop)

    expect(error).toBeUndefined()
    expect(stops.length).toBeGreaterThan(45)
    expect(stops).toContain('operations 7')
    expect(await copy(dataDir, url)).toMatchObject({ isNew: false, charges: 7 })
    expect(await (await aNodeOf(url)).ledger.verify()).toMatchObject({ problems: [] })
  })

  test('no gateway uses a database with an unfinished copy', async () => {
    const dataDir = await aSmallFolder()
    const url = await aDatabase(server!)
    await rejection(copy(dataDir, url, { onRows: stopNow }))

    const error = await rejection(aNode(url, 'one'))
    await copy(dataDir, url)

    expect(String(error)).toContain('The database has an unfinished copy of other books. Finish it with')
    expect((await (await aNodeOf(url)).accounts.listAccounts({ limit: 9 })).accounts).toHaveLength(1)
  })
})

describe.skipIf(server === undefined)('a copy to PostgreSQL is refused', () => {
  async function refusal(dataDir: string, url: string, change: Partial<MigrateStoreParts> = {}) {
    return String(await rejection(copy(dataDir, url, change)))
  }

  test('a copy to PostgreSQL is refused while a gateway runs on the data folder', async () => {
    const dataDir = await aSmallFolder()
    const lock = lockFolder(dataDir)
    ends.push(() => lock.release())

    expect(await refusal(dataDir, await aDatabase(server!))).toContain(
      'is in use by another tollgate process',
    )
  })

  test('a copy to PostgreSQL is refused with another secret key, and without the one of the folder', async () => {
    const dataDir = await aSmallFolder()
    const url = await aDatabase(server!)

    const other = await refusal(dataDir, url, { secretKey: random32() })
    rmSync(join(dataDir, 'secret.key'))
    const without = await refusal(dataDir, url)

    expect(other).toContain('TOLLGATE_SECRET_KEY is not the key in')
    expect(without).toContain('There is no secret.key in')
  })

  test('a copy to PostgreSQL is refused into a database that a gateway has used', async () => {
    const url = await aDatabase(server!)
    await (await aNode(url, 'one')).close()

    expect(await refusal(await aSmallFolder(), url)).toContain('The database is not empty')
  })

  test('a copy to PostgreSQL is refused into a copy of other books', async () => {
    const url = await aDatabase(server!)
    await copy(await aSmallFolder(), url)

    expect(await refusal(await aSmallFolder(), url)).toContain('The database has a copy of other books')
  })

  test('a copy to PostgreSQL is refused if the books changed after it began', async () => {
    const dataDir = await aSmallFolder()
    const url = await aDatabase(server!)
    await copy(dataDir, url)
    const store = aSqliteStore(join(dataDir, 'tollgate.db'))
    await anAccount(store)
    await store.close()

    expect(await refusal(dataDir, url)).toContain('have changed since they were copied')
  })

  test('a copy to PostgreSQL is refused if a row without a commit changed after it was copied', async () => {
    const dataDir = await aFolder(useEverything)
    const url = await aDatabase(server!)
    await rejection(copy(dataDir, url, { onStep: stopAtEnd }))
    tamperFile(join(dataDir, 'tollgate.db'), "UPDATE webhooks SET note = 'changed'")

    expect(await refusal(dataDir, url)).toContain(
      'The copy differs from the data folder in row 7 of the table webhooks',
    )
  })

  test.each([
    ['a row too many', 'INSERT INTO job_alerts VALUES (2)', 'row 2 of the table job_alerts'],
    ['a row too few', 'DELETE FROM mail_recipients WHERE id = 5', 'row 5 of the table mail_recipients'],
    ['another value', 'UPDATE usage_days SET cost = cost + 1', 'of the table usage_days'],
  ])('a copy to PostgreSQL is refused if the database has %s', async (_, sql, row) => {
    const dataDir = await aFolder(useEverything)
    const url = await aDatabase(server!)
    await rejection(copy(dataDir, url, { onStep: stopAtEnd }))
    await connect(url).unsafe(sql)

    const error = await refusal(dataDir, url)

    expect(error).toContain('The copy differs from the data folder in row ')
    expect(error).toContain(row)
  })

  test('a copy to PostgreSQL is refused before it begins if a text has the character U+0000', async () => {
    const dataDir = await aFolder(async store => {
      const { accountId } = await anAccount(store)
      await store.ledger.credit({ ...aCredit(accountId), amount: usd('1'), note: 'a\0b' })
    })
    const url = await aDatabase(server!)

    const error = await refusal(dataDir, url)

    expect(error).toContain('PostgreSQL cannot store texts with the character U+0000. Nothing was copied.')
    expect(error).toContain('row 1 of the table credits')
    expect(await connect(url)`SELECT * FROM store_copy`).toHaveLength(0)
  })

  test('a row that PostgreSQL cannot store is named', async () => {
    const dataDir = await aFolder(useEverything)
    tamperFile(join(dataDir, 'tollgate.db'), 'INSERT INTO job_alerts VALUES (77)')

    expect(await refusal(dataDir, await aDatabase(server!))).toContain(
      'PostgreSQL cannot store row 77 of the table job_alerts: insert or update on table',
    )
  })

  test('a copy to PostgreSQL is refused if the books do not balance', async () => {
    const dataDir = await aSmallFolder()
    tamperFile(join(dataDir, 'tollgate.db'), 'UPDATE charges SET cost = cost + 1')

    expect(await refusal(dataDir, await aDatabase(server!))).toContain(
      'The books in the data folder do not balance.',
    )
  })

  test('a copy to PostgreSQL is refused if the books lost commits that their anchor names', async () => {
    const dataDir = await aSmallFolder()
    const end = { node: 'main', number: 999, hash: '00'.repeat(32) }
    await diskAnchorFile(join(dataDir, 'anchor.json')).write([end])

    expect(await refusal(dataDir, await aDatabase(server!))).toContain('does not match the books')
  })

  test('a copy to PostgreSQL is refused if an id is years ahead of the clock of the database', async () => {
    const dataDir = await aFolder(async store => {
      const { accountId } = await anAccount(store)
      const id = { key: BigInt(Date.UTC(2090, 0)) << 16n, tail: 1n }
      await store.ledger.credit({ ...aCredit(accountId), id, amount: usd('1') })
    })

    expect(await refusal(dataDir, await aDatabase(server!))).toContain("months ahead of the database's clock")
  })
})
