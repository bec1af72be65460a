import { existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  aRecordedRequest,
  aRequestId,
  requestRecordsConform,
} from '../../../../test/conformance/request-records.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import type { GatewayError } from '../../../domain/errors.ts'
import type { RecordedRequest, RequestRecordStore } from '../../../gateway/ports/requests/request-records.ts'
import { openRequestStore } from './open-request-store.ts'
import { removeRequestFile } from './request-file.ts'

const NOW_MS = 1_800_000_000_000
const BOUNDS = { keptMs: 7 * 86_400_000, rowsMax: 1_000_000, bytesMax: 67_108_864 }
const patient = { after: () => () => undefined }
const opened: RequestRecordStore[] = []

function open(folder = aDataFolder(), bounds: Partial<typeof BOUNDS> = {}) {
  const path = join(folder, 'requests.sqlite')
  const damages: string[] = []
  const store = openRequestStore(
    { path, bounds: { ...BOUNDS, ...bounds } },
    { clock: patient, onDamaged: problem => damages.push(problem) },
  )
  opened.push(store)
  return { store, path, damages }
}

function write(store: RequestRecordStore, requests: readonly RecordedRequest[]) {
  return store.write({ requests, alikeRefusals: new Map(), nowMs: NOW_MS })
}

function manyRequests(from: number, count: number, text = 'x'.repeat(400)): RecordedRequest[] {
  return Array.from({ length: count }, (_, index) =>
    aRecordedRequest({
      id: aRequestId(from + index),
      accountId: `acct_${(from + index) % 97}`,
      tags: { text },
    }),
  )
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

describe('the records in SQLite', () => {
  requestRecordsConform((bounds = {}) => open(aDataFolder(), bounds).store)

  test('a sweep deletes the records that are too old, in turns of a thousand', async () => {
    const { store } = open()
    const old = Array.from({ length: 2500 }, (_, index) => aRecordedRequest({ id: `old_${index}` }))
    await write(store, [...old, aRecordedRequest({ id: 'new', atMs: NOW_MS + 2 })])
    let turns = 1

    while (await store.sweep(NOW_MS + BOUNDS.keptMs + 1)) turns += 1

    expect(turns).toBeGreaterThan(2)
    expect((await store.list({ limit: 5 })).requests.map(({ id }) => id)).toEqual(['new'])
  })

  test('only the user of the gateway can read the file', async () => {
    const { store, path } = open()

    await write(store, [aRecordedRequest()])

    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('records are there after the store was opened again', async () => {
    const folder = aDataFolder()
    const { store } = open(folder)
    await write(store, [aRecordedRequest()])
    await store.close()

    expect(await open(folder).store.find(aRequestId(1))).toEqual(aRecordedRequest())
  })

  test('the files stay within their bytes, and the latest records are kept', async () => {
    const folder = aDataFolder()
    const bytesMax = 12 * 1_048_576
    const { store } = open(folder, { bytesMax })
    for (let batch = 0; batch < 60; batch += 1) {
      expect(await write(store, manyRequests(batch * 256, 256))).toEqual({})
    }

    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    const [latest] = manyRequests(60 * 256 - 1, 1)

    expect(bytes).toBeLessThan(bytesMax)
    expect(await store.find(latest!.id)).toEqual(latest)
    expect(await store.find(manyRequests(0, 1)[0]!.id)).toBeUndefined()
  })

  test('there is always room for a batch, also if its records are larger than those before', async () => {
    const { store } = open(aDataFolder(), { bytesMax: 20 * 1_048_576 })
    const written: unknown[] = []
    const writeBatches = async (count: number, text: string) => {
      for (let batch = 0; batch < count; batch += 1)
        written.push(await write(store, manyRequests(written.length * 1024, store.batchMax, text)))
    }

    await writeBatches(20, 'x'.repeat(200))
    await writeBatches(5, 'x'.repeat(1500))

    expect(written).toEqual(written.map(() => ({})))
  })

  test('a lower bound of bytes makes an existing file smaller, and records are written meanwhile', async () => {
    const folder = aDataFolder()
    const before = open(folder)
    for (let batch = 0; batch < 40; batch += 1) await write(before.store, manyRequests(batch * 256, 256))
    await before.store.close()
    const size = statSync(before.path).size
    const { store, path } = open(folder, { bytesMax: 10 * 1_048_576 })

    expect(await write(store, [aRecordedRequest()])).toEqual({})
    while (await store.sweep(NOW_MS));
    for (let turn = 0; turn < 20; turn += 1) await store.sweep(NOW_MS)
    await store.close()

    expect(size).toBeGreaterThan(4 * 1_048_576)
    expect(statSync(path).size).toBeLessThan(2.2 * 1_048_576)
  })

  test('a full disk loses the batch and names the problem, and the next one is written when there is space', async () => {
    const folder = aDataFolder()
    // A file without room for its own tables.
    const full = open(folder, { bytesMax: 1 })

    const first = await write(full.store, manyRequests(0, 256))
    await full.store.close()
    const { store } = open(folder)
    const second = await write(store, [aRecordedRequest()])

    expect(first).toEqual({ problem: 'database or disk is full' })
    expect(second).toEqual({})
  })

  test('a path that cannot be written loses the batch, and reads are refused as unavailable', async () => {
    const { store } = open(join(aDataFolder(), 'missing'))

    const written = await write(store, [aRecordedRequest()])
    const read = await store.list({ limit: 1 }).catch((error: unknown) => error)

    expect(written.problem).toContain('ENOENT')
    expect(read).toMatchObject({ code: 'unavailable' })
  })

  test.each([
    ['is not a database', (path: string) => writeFileSync(path, 'notes'.repeat(1000))],
    [
      'was cut',
      (path: string) => {
        truncateSync(path, 4096 * 3)
      },
    ],
    [
      'has the form of another version',
      (path: string) => {
        const database = new Database(path)
        database.run('PRAGMA user_version = 99')
        database.close()
      },
    ],
  ])('a file that %s is put aside, and a new one begun', async (_, damage) => {
    const folder = aDataFolder()
    const before = open(folder)
    await write(before.store, manyRequests(0, 256))
    await before.store.close()
    damage(before.path)
    const { store, damages, path } = open(folder)

    const written = await write(store, [aRecordedRequest()])

    expect(written).toEqual({})
    expect((await store.list({ limit: 2 })).requests).toEqual([aRecordedRequest()])
    expect(damages).toHaveLength(1)
    expect(existsSync(`${path}.damaged`)).toBe(true)
  })

  test('a file of an earlier version, without counts and with whole ids in its indexes, is read and written', async () => {
    const folder = aDataFolder()
    const before = open(folder)
    await write(before.store, [aRecordedRequest()])
    await before.store.close()
    const database = new Database(before.path)
    for (const name of ['account', 'key']) database.run(`DROP INDEX requests_by_${name}`)
    database.run('CREATE INDEX requests_by_id ON requests (id)')
    database.run('CREATE INDEX requests_by_account ON requests (account_id, at_ms)')
    database.run('CREATE INDEX requests_by_key ON requests (api_key_id, at_ms)')
    database.run('DROP TABLE request_counts')
    database.run('PRAGMA user_version = 2')
    database.close()
    const { store, damages } = open(folder)

    const written = await write(store, [aRecordedRequest({ id: aRequestId(2) })])
    const listed = await store.list({ limit: 9, accountId: 'acct_1', apiKeyId: 'key_1' })

    expect([written, damages]).toEqual([{}, []])
    expect(listed.requests.map(({ id }) => id)).toEqual([aRequestId(2), aRequestId(1)])
    expect(await store.find(aRequestId(1))).toEqual(aRecordedRequest())
  })

  test('a batch waits for the list that is being read, and not for those that wait', async () => {
    const { store } = open()
    await write(store, manyRequests(0, 2000))
    const ended: string[] = []
    const end = (name: string) => () => ended.push(name)

    await Promise.all([
      ...['first list', 'second list', 'third list'].map(name => store.list({ limit: 5 }).then(end(name))),
      write(store, [aRecordedRequest()]).then(end('batch')),
    ])

    expect(ended).toHaveLength(4)
    expect(ended.indexOf('batch')).toBeLessThan(ended.indexOf('second list'))
  })

  test('a list is read after one that failed', async () => {
    const folder = aDataFolder()
    const { store, path } = open(folder)
    mkdirSync(path)

    const lists = [store.list({ limit: 5 }), store.list({ limit: 5 })]
    const codes = await Promise.all(lists.map(list => list.catch((error: GatewayError) => error.code)))

    expect(codes).toEqual(['unavailable', 'unavailable'])
  })

  test('switching the records off removes their files', async () => {
    const { store, path } = open()
    await write(store, [aRecordedRequest()])
    await store.close()

    removeRequestFile(path)

    expect(existsSync(path)).toBe(false)
  })
})
