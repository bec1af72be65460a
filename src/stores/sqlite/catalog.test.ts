import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { catalogConforms } from '../../../test/conformance/catalog.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { rejection } from '../../../test/support/rejection.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { createAuditLog } from './audit-log.ts'
import { openCatalogStore } from './catalog.ts'
import { openDatabase } from './database.ts'
import { GroupCommit } from './group-commit.ts'
import { Transactions } from './transactions.ts'

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
  const secretKey = { bytes: new Uint8Array(32).fill(byte), isNew }
  const database = openDatabase({ path: join(folder, 'tollgate.db') })
  try {
    const transactions = new Transactions(database)
    const groupCommit = new GroupCommit(transactions)
    const auditLog = createAuditLog(database)
    const store = openCatalogStore({ database, transactions, groupCommit, auditLog, secretKey })
    const close = () => {
      groupCommit.close()
      // This also finalizes prepared statements, which would keep the file locked.
      database.close(true)
    }
    return { database, transactions, groupCommit, auditLog, store, close }
  } catch (error) {
    database.close(true)
    throw error
  }
}

catalogConforms(async () => {
  const folder = aDataFolder()
  let opened = openStore(folder)
  return {
    store: opened.store,
    audited: async () => {
      const lines = await opened.auditLog.list({ limit: 100 })
      return lines.toReversed().map(({ action, subject }) => `${action} ${subject}`)
    },
    reopen: async () => {
      opened.close()
      opened = openStore(folder)
      return opened.store
    },
  }
})

describe('the catalog in a data folder', () => {
  test('holds no secret in plain text, not in the log of writes either', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)

    await store.putProvider(provider, audit)

    const files = readdirSync(folder).map(name => readFileSync(join(folder, name)))
    expect(files.some(bytes => bytes.includes('https://api.example.com/v1'))).toBe(true)
    expect(files.some(bytes => bytes.includes(SECRET))).toBe(false)
    close()
  })

  test('does not open under another secret key, and says which file is wrong', async () => {
    const folder = aDataFolder()
    const { store, close } = openStore(folder)
    await store.putProvider(provider, audit)
    close()

    expect(() => openStore(folder, { byte: 8 })).toThrow(
      'The provider keys in this data folder were encrypted under another secret.key. Put back the secret.key that belongs to it.',
    )
  })

  test('has lost its secrets where there was no secret key, until they are entered again', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    await first.store.putProvider(provider, audit)
    first.close()

    const second = openStore(folder, { byte: 8, isNew: true })
    const lost = second.store.current().providers.get('main')
    const kept = await rejection(second.store.putProvider({ ...provider, secret: { from: 'keep' } }, audit))
    second.close()
    const third = openStore(folder, { byte: 8 })
    await third.store.putProvider(provider, audit)
    third.close()

    expect(lost).toEqual({ ...provider, secret: { from: 'lost' } })
    expect(kept).toMatchObject({ code: 'invalid_field' })
    const { store } = openStore(folder, { byte: 8 })
    expect(store.current().providers.get('main')).toEqual(provider)
  })

  test('has its secrets again when their key comes back after another one was made', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    await first.store.putProvider(provider, audit)
    first.close()
    openStore(folder, { byte: 8, isNew: true }).close()

    const { store } = openStore(folder)

    expect(store.current().providers.get('main')).toEqual(provider)
  })

  test('opens under any secret key where it holds no secret', async () => {
    const folder = aDataFolder()
    const first = openStore(folder)
    const free = { ...provider, secret: { from: 'none' } } as const
    await first.store.putProvider(free, audit)
    first.close()

    const { store } = openStore(folder, { byte: 8 })

    expect(store.current().providers.get('main')).toEqual(free)
  })

  test('does not take the sealed key of one provider for that of another', async () => {
    const folder = aDataFolder()
    const { store, database, close } = openStore(folder)
    await store.putProvider(provider, audit)
    await store.putProvider({ ...provider, id: 'spare', secret: { from: 'literal', value: 'sk-2' } }, audit)
    database.run(
      "UPDATE providers SET sealed_secret = (SELECT sealed_secret FROM providers WHERE id = 'main') WHERE id = 'spare'",
    )
    close()

    const { store: reopened } = openStore(folder)
    expect(reopened.current().providers.get('main')?.secret).toEqual({ from: 'literal', value: SECRET })
    expect(reopened.current().providers.get('spare')?.secret).toEqual({ from: 'lost' })
  })

  test('names a stored row that this version cannot read', async () => {
    const folder = aDataFolder()
    const { store, database, close } = openStore(folder)
    await store.putProvider(provider, audit)
    database.run(`UPDATE providers SET content = json_set(content, '$.kind', 'later')`)
    close()

    expect(() => openStore(folder)).toThrow(
      'The stored provider "main" cannot be read by this version of tollgate: kind is "later"; write one of sandbox, openai-compatible.',
    )
  })

  test('stays as it was when the commit of an edit fails', async () => {
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
    close()
  })

  test('is edited together with the other writes of a turn, and one that fails takes nothing with it', async () => {
    const { store, groupCommit, close } = openStore(aDataFolder())

    const outcomes = await Promise.allSettled([
      store.putProvider(provider, audit),
      groupCommit.run(() => {
        throw new Error('Another caller was refused.')
      }),
      store.putProvider({ ...provider, id: 'spare' }, audit),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([...store.current().providers.keys()]).toEqual(['main', 'spare'])
    expect(store.current().revision).toBe(2)
    close()
  })
})
