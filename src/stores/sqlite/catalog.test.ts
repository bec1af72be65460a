import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCredit } from '../../../test/support/ledger-builders.ts'
import { putNewDatabase } from '../../../test/support/new-database.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { nodeSettings } from '../../../test/support/test-store.ts'
import { usd } from '../../domain/money.ts'
import { providerKinds, type Provider } from '../../domain/catalog/provider.ts'
import { openSqliteStore } from './store.ts'

const SECRET = 'sk-a-secret-that-must-not-be-read'
const audit = { actor: 'admin', action: 'provider.put', subject: 'main', atMs: 1 }

const provider: Provider = {
  id: 'main',
  kind: 'openai-compatible',
  baseUrl: 'https://api.example.com/v1',
  secret: { from: 'literal', value: SECRET },
  headers: {},
  routes: ['chat'],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}

function openStore(folder: string, { byte = 7, isNew = false } = {}) {
  const secretKey = () => ({ bytes: new Uint8Array(32).fill(byte), isNew })
  putNewDatabase(join(folder, 'tollgate.db'))
  const store = openSqliteStore({ path: join(folder, 'tollgate.db'), secretKey })
  const { catalog, ledger, auditLog } = store.openNode(nodeSettings('main', fakeClock()))
  const { database, transactions } = store
  return { store: catalog, ledger, auditLog, database, transactions, close: () => store.close() }
}

/** Writes the next revision of the catalog, with a second provider, as another process does. */
function addSpare(folder: string): void {
  const database = new Database(join(folder, 'tollgate.db'))
  database.run(`BEGIN;
    INSERT INTO providers (id, position, content)
      SELECT 'spare', 1, json_set(content, '$.id', 'spare', '$.api_key', NULL) FROM providers WHERE id = 'main';
    INSERT INTO provider_versions (id, revision, position, content)
      SELECT id, 2, position, content FROM providers WHERE id = 'spare';
    INSERT INTO catalog_revisions (revision, actor, action, subject, at_ms)
      VALUES (2, 'admin', 'provider.put', 'spare', 5);
    UPDATE catalog_state SET revision = 2, updated_at_ms = 5;
    COMMIT`)
  database.close()
}

describe('the catalog in a data folder', () => {
  test('the catalog in a data folder has no secret in plain text, not in the write-ahead log either', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)

    await store.putProvider(provider, audit)

    const files = readdirSync(folder).map(name => readFileSync(join(folder, name)))
    expect(files.some(bytes => bytes.includes('https://api.example.com/v1'))).toBe(true)
    expect(files.some(bytes => bytes.includes(SECRET))).toBe(false)
    await close()
  })

  test('the catalog in a data folder does not open with another secret key, and the error names the file', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)
    await store.putProvider(provider, audit)
    await close()

    expect(() => openStore(folder, { byte: 8 })).toThrow(
      'The provider keys in this data folder were encrypted under another secret.key. Put back the secret.key that belongs to it.',
    )
  })

  test('the catalog in a data folder loses its secrets with the secret key, until they are entered again', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    await first.store.putProvider(provider, audit)
    await first.close()

    const second = openStore(folder, { byte: 8, isNew: true })
    const lost = second.store.current().providers.get('main')
    const kept = await rejection(second.store.putProvider({ ...provider, secret: { from: 'keep' } }, audit))
    await second.close()
    const third = openStore(folder, { byte: 9, isNew: true })
    await third.store.putProvider(provider, audit)
    await third.close()

    expect(lost).toEqual({ ...provider, secret: { from: 'lost' } })
    expect(kept).toMatchObject({ code: 'invalid_field' })
    const { store } = openStore(folder, { byte: 9 })
    expect(store.current().providers.get('main')).toEqual(provider)
  })

  test('the catalog in a data folder keeps a new secret key when a row is stored, and not before', async () => {
    const folder = aDataFolder()
    let kept = 0
    const secretKey = () => ({ bytes: new Uint8Array(32), isNew: true, keep: () => (kept += 1) })
    const opened = openSqliteStore({ path: join(folder, 'tollgate.db'), secretKey })
    const { catalog } = opened.openNode(nodeSettings('main', fakeClock()))

    const before = kept
    await catalog.putProvider(provider, audit)
    await opened.close()

    expect(before).toBe(0)
    expect(kept).toBeGreaterThan(0)
  })

  test('the catalog in a data folder has its secrets again when the first key is put back after another one was made', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    await first.store.putProvider(provider, audit)
    await first.close()
    await openStore(folder, { byte: 8, isNew: true }).close()

    const { store } = openStore(folder)

    expect(store.current().providers.get('main')).toEqual(provider)
  })

  test('the catalog in a data folder opens with any secret key if it has no secret', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    const free = { ...provider, secret: { from: 'none' } } as const
    await first.store.putProvider(free, audit)
    await first.close()

    const { store } = openStore(folder, { byte: 8 })

    expect(store.current().providers.get('main')).toEqual(free)
  })

  test('the catalog in a data folder does not accept the sealed key of another provider', async () => {
    const folder = aDataFolder()
    const { store, database, close } = openStore(folder)
    await store.putProvider(provider, audit)
    await store.putProvider({ ...provider, id: 'spare', secret: { from: 'literal', value: 'sk-2' } }, audit)
    database.run(
      "UPDATE providers SET sealed_secret = (SELECT sealed_secret FROM providers WHERE id = 'main') WHERE id = 'spare'",
    )
    await close()

    const { store: reopened } = openStore(folder)
    expect(reopened.current().providers.get('main')?.secret).toEqual({ from: 'literal', value: SECRET })
    expect(reopened.current().providers.get('spare')?.secret).toEqual({ from: 'lost' })
  })

  test('the catalog in a data folder reports a stored row that this version cannot read', async () => {
    const folder = aDataFolder()
    const { store, database, close } = openStore(folder)
    await store.putProvider(provider, audit)
    database.run(`UPDATE providers SET content = json_set(content, '$.kind', 'later')`)
    await close()

    expect(() => openStore(folder)).toThrow(
      `The stored provider "main" cannot be read by this version of tollgate: kind is "later"; write one of ${providerKinds.join(', ')}.`,
    )
  })

  test('the catalog in a data folder does not change when the commit of an edit fails', async () => {
    const { store, transactions, auditLog, close } = openStore(aDataFolder())
    let isFailing = true
    transactions.join({
      beforeCommit() {
        if (isFailing) throw new Error('The disk is full.')
      },
    })

    const edit = await Promise.allSettled([store.putProvider(provider, audit)])
    isFailing = false
    const before = store.current()
    const after = await store.putProvider({ ...provider, id: 'spare' }, audit)

    expect(edit[0].status).toBe('rejected')
    expect(before.providers.size).toBe(0)
    expect([...after.providers.keys()]).toEqual(['spare'])
    expect(after.revision).toBe(1)
    expect(await auditLog.list({ limit: 10 })).toHaveLength(1)
    await close()
  })

  test('the catalog in a data folder that another process has edited is read again by a refresh', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)
    await store.putProvider(provider, audit)
    const before = store.current()
    const same = await store.refresh()
    addSpare(folder)

    const refreshed = await store.refresh()

    expect(same).toBe(before)
    expect(store.current()).toBe(refreshed)
    expect([...refreshed.providers.keys()]).toEqual(['main', 'spare'])
    expect([refreshed.revision, refreshed.updatedAtMs]).toEqual([2, 5])
    expect(refreshed.providers.get('main')).toEqual(provider)
    await close()
  })

  test('the catalog in a data folder that another process has edited keeps that edit when it is edited here', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)
    await store.putProvider(provider, audit)
    addSpare(folder)

    const outcomes = await Promise.allSettled([
      store.putProvider({ ...provider, id: 'third' }, audit),
      store.deleteProvider('spare', audit),
      store.putProvider(provider, audit),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ value: true })
    expect([...store.current().providers.keys()]).toEqual(['main', 'third'])
    expect(store.current().revision).toBe(4)
    expect(await store.refresh()).toBe(store.current())
    await close()
  })

  test('the catalog in a data folder is edited in one transaction with other writes, and a write that fails does not affect the edits', async () => {
    const { store, ledger, close } = openStore(aDataFolder())

    const outcomes = await Promise.allSettled([
      store.putProvider(provider, audit),
      ledger.credit({ ...aCredit(404), amount: usd('1') }),
      store.putProvider({ ...provider, id: 'spare' }, audit),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([...store.current().providers.keys()]).toEqual(['main', 'spare'])
    expect(store.current().revision).toBe(2)
    await close()
  })
})
