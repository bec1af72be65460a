import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { aRecordedRequest, requestRecordsConform } from '../../../test/conformance/request-records.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import type { RecordedRequest, RequestRecordStore } from '../../gateway/ports/requests/request-records.ts'
import { RequestRecorder, WRITE_EVERY_MS } from '../../gateway/requests/request-recorder.ts'
import { until } from '../../http1/testing/until.ts'
import { connections } from './database/database.ts'
import { grantUse } from './database/migrate.ts'
import { openPostgresRecords, removeRequests, type RequestBounds } from './request-records.ts'

const server = await runServer()

const NOW_MS = 1_800_000_000_000
const DAY_MS = 86_400_000
const BOUNDS = { keptMs: 7 * DAY_MS, rowsMax: 1_000_000, bytesMax: 67_108_864 }
const patient = { after: () => () => undefined }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A node whose database has the time that it passes. */
function aNode(url: string, bounds: Partial<RequestBounds> = {}): RequestRecordStore {
  let nowMs = NOW_MS
  const store = openPostgresRecords(connections({ url }), {
    clock: patient,
    bounds: { ...BOUNDS, ...bounds },
    nowMs: () => nowMs,
  })
  ends.push(() => store.close())
  return {
    batchMax: store.batchMax,
    write: batch => ((nowMs = batch.nowMs), store.write(batch)),
    sweep: atMs => ((nowMs = atMs), store.sweep(atMs)),
    list: query => store.list(query),
    find: id => store.find(id),
    report: query => store.report(query),
    close: () => store.close(),
  }
}

/** Databases without records. Removing records is faster than making a database. */
const free: string[] = []

async function anEmptyOne(): Promise<string> {
  const url = free.pop() ?? (await aDatabase(server!))
  ends.push(async () => {
    await removeRequests(connections({ url }))
    const sql = new SQL({ url, max: 1 })
    // The part that is left began at the last time of a test.
    await sql`UPDATE request_parts SET began_at_ms = 0`
    await sql.close()
    free.push(url)
  })
  return url
}

/** Two nodes on a database without records, and a connection to it. */
async function open(bounds: Partial<RequestBounds> = {}) {
  const url = await anEmptyOne()
  const sql = new SQL({ url, max: 1 })
  ends.push(() => sql.close())
  return { url, sql, store: aNode(url, bounds), other: aNode(url, bounds) }
}

async function sweepAll(store: RequestRecordStore, nowMs: number): Promise<void> {
  while (await store.sweep(nowMs));
}

function write(store: RequestRecordStore, requests: readonly RecordedRequest[]) {
  return store.write({ requests, alikeRefusals: new Map(), nowMs: NOW_MS })
}

async function idsIn(store: RequestRecordStore): Promise<readonly string[]> {
  const { requests } = await store.list({ limit: 100 })
  return requests.map(({ id }) => id)
}

function manyRequests(from: number, count: number): RecordedRequest[] {
  return Array.from({ length: count }, (_, index) =>
    aRecordedRequest({
      id: `req_${from + index}`.padEnd(30, '0'),
      accountId: `acct_${(from + index) % 97}`,
      tags: { text: 'x'.repeat(400) },
    }),
  )
}

/** The tables of the parts that the records are in, without the empty one of the next part. */
async function partsOf(sql: SQL): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`SELECT relname AS name FROM pg_inherits
    JOIN pg_class ON oid = inhrelid WHERE inhparent = 'requests'::regclass
      AND relname <> (SELECT 'requests_' || max(number) + 1 FROM request_parts) ORDER BY relname`
  return rows.map(({ name }) => name)
}

describe.skipIf(server === undefined)('the records in PostgreSQL', () => {
  requestRecordsConform(async bounds => (await open(bounds)).store)

  test('each node reads the records of the other nodes', async () => {
    const { store, other } = await open()

    await write(store, [aRecordedRequest({ id: 'a' })])
    await write(other, [aRecordedRequest({ id: 'b', atMs: NOW_MS + 1 })])

    expect(await idsIn(store)).toEqual(['b', 'a'])
    expect(await other.find('a')).toEqual(aRecordedRequest({ id: 'a' }))
  })

  test('a list of several parts is in the order of its sort, and its pages fit together', async () => {
    const { store, other } = await open()
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const [day, id] of ids.entries()) {
      await sweepAll(store, NOW_MS + day * DAY_MS)
      await write(day % 2 === 0 ? store : other, [aRecordedRequest({ id, durationMs: day % 3 })])
    }
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await other.list({ sort: 'duration', limit: 2, ...(cursor !== undefined && { cursor }) })
      paged.push(...page.requests.map(({ id }) => id))
      cursor = page.next
    } while (cursor !== undefined)

    expect(await idsIn(store)).toEqual(ids.toReversed())
    expect(paged).toEqual(['f', 'c', 'e', 'b', 'd', 'a'])
  })

  test('a count of alike refusals reaches a record of the part before', async () => {
    const { store } = await open()
    await write(store, [aRecordedRequest({ id: 'refused' })])
    await sweepAll(store, NOW_MS + DAY_MS)

    await store.write({ requests: [], alikeRefusals: new Map([['refused', 7]]), nowMs: NOW_MS + DAY_MS })

    expect((await store.find('refused'))?.alikeRefusals).toBe(7)
  })

  test('each day has a part, which is dropped when its last record is too old', async () => {
    const { store, sql } = await open()
    for (let day = 0; day <= 20; day += 1) {
      const nowMs = NOW_MS + day * DAY_MS
      await sweepAll(store, nowMs)
      await store.write({
        requests: [aRecordedRequest({ id: `${day}`, atMs: nowMs })],
        alikeRefusals: new Map(),
        nowMs,
      })
    }

    expect(await partsOf(sql)).toHaveLength(8)
    expect(await idsIn(store)).toEqual(['20', '19', '18', '17', '16', '15', '14', '13'])
  })

  test('days without requests make no parts', async () => {
    const { store, sql } = await open()
    for (let day = 0; day <= 20; day += 1) await sweepAll(store, NOW_MS + day * DAY_MS)

    expect(await partsOf(sql)).toHaveLength(1)
  })

  test('records that are kept for years have about 32 parts', async () => {
    const { store, sql } = await open({ keptMs: 640 * DAY_MS })
    for (let day = 0; day <= 640; day += 5) {
      await sweepAll(store, NOW_MS + day * DAY_MS)
      await write(store, [aRecordedRequest({ id: `${day}` })])
    }

    expect((await partsOf(sql)).length).toBeWithin(32, 35)
  })

  test('two nodes that write at once stay within the bytes, and keep the latest records', async () => {
    const bytesMax = 12 * 1_048_576
    const { store, other, sql } = await open({ bytesMax, rowsMax: 16_384 })
    for (let batch = 0; batch < 60; batch += 1) {
      const nodes = [store, other].map((node, index) =>
        write(node, manyRequests((2 * batch + index) * 256, 256)),
      )
      expect(await Promise.all(nodes)).toEqual([{}, {}])
    }
    await sweepAll(store, NOW_MS)

    // Without the table of the next part, which is empty and does not count.
    const [size] = await sql<{ bytes: string }[]>`
      SELECT sum(pg_total_relation_size(format('requests_%s', number)::regclass)) AS bytes FROM request_parts`
    const [latest] = manyRequests(120 * 256 - 1, 1)

    expect(Number(size!.bytes)).toBeLessThanOrEqual(bytesMax)
    expect(Number(size!.bytes)).toBeGreaterThan(bytesMax / 2)
    expect(await store.find(latest!.id)).toEqual(latest)
    expect(await store.find(manyRequests(0, 1)[0]!.id)).toBeUndefined()
  })

  test('a list that is being read delays no batch, and the part that it reads is dropped by a later sweep', async () => {
    const { store, sql } = await open()
    await write(store, [aRecordedRequest()])
    const [part] = await partsOf(sql)
    await sweepAll(store, NOW_MS + DAY_MS)

    const written = await sql.begin(async reader => {
      await reader`SELECT * FROM requests`
      const first = await write(store, [aRecordedRequest({ id: 'new' })])
      await sweepAll(store, NOW_MS + 9 * DAY_MS)
      return [first, await write(store, [aRecordedRequest({ id: 'newer', atMs: NOW_MS + 1 })])]
    })
    const during = await partsOf(sql)
    await sweepAll(store, NOW_MS + 9 * DAY_MS)

    expect(written).toEqual([{}, {}])
    expect(during).toContain(part!)
    expect(during).toHaveLength(3)
    expect(await idsIn(store)).toEqual(['newer', 'new'])
  })

  test('a gateway that owns no tables writes, reads and drops records', async () => {
    const { url, sql, store: owner } = await open()
    await sql.unsafe(`DROP ROLE IF EXISTS gateway; CREATE ROLE gateway LOGIN PASSWORD 'word'`)
    await grantUse(sql, 'gateway')
    ends.push(() => sql.unsafe('DROP OWNED BY gateway; DROP ROLE gateway'))
    const ofGateway = new URL(url)
    ofGateway.username = 'gateway'
    ofGateway.password = 'word'
    const store = aNode(ofGateway.href)

    await write(store, [aRecordedRequest({ id: 'old' })])
    await sweepAll(store, NOW_MS + DAY_MS)
    const written = await write(store, [aRecordedRequest({ id: 'new' })])
    await sweepAll(store, NOW_MS + 8 * DAY_MS)

    expect(written).toEqual({})
    expect(await idsIn(store)).toEqual(['new'])
    expect(await idsIn(owner)).toEqual(['new'])
  })

  test('switching the records off deletes them', async () => {
    const { url, store } = await open()
    await write(store, [aRecordedRequest()])
    await sweepAll(store, NOW_MS + DAY_MS)
    await write(store, [aRecordedRequest()])

    const isDone = await removeRequests(connections({ url }))

    expect(isDone).toBe(true)
    expect(await idsIn(store)).toEqual([])
  })

  test('a text with a zero character finds nothing', async () => {
    const { store } = await open()
    await write(store, [aRecordedRequest()])

    expect(await store.list({ limit: 1, userId: 'a\0' })).toEqual({ requests: [] })
    expect(await store.find('req_1\0')).toBeUndefined()
  })
})

describe.skipIf(server === undefined)('records of requests without their database', () => {
  /** A recorder whose database is behind a proxy. */
  async function openRecorder() {
    const url = await anEmptyOne()
    const proxy = Proxy.to(url)
    ends.push(() => proxy.stop())
    const [clock, timers] = [fakeClock(), fakeClock()]
    const store = openPostgresRecords(connections({ url: proxy.url(url) }), { clock: timers, bounds: BOUNDS })
    const problems: string[] = []
    const recorder = new RequestRecorder(
      { store, clock, onProblem: problem => problems.push(problem) },
      { refusalsPerMinute: 60 },
    )
    ends.push(async () => {
      proxy.heal()
      await recorder.close()
    })
    return { recorder, proxy, clock, timers, problems, other: aNode(url) }
  }

  test('a database that is cut off loses the records of that time, and they are counted', async () => {
    const { recorder, proxy, clock, problems, other } = await openRecorder()
    recorder.add(aRecordedRequest({ id: 'before' }))
    await recorder.list({ limit: 1 })
    proxy.cut()
    proxy.stop()

    recorder.add(aRecordedRequest({ id: 'during' }))
    clock.advance(WRITE_EVERY_MS)
    await until('the record is lost', () => recorder.counts.dropped === 1)

    expect(recorder.counts).toMatchObject({ written: 1, dropped: 1 })
    expect(recorder.problem).toBe(problems[0])
    expect(await idsIn(other)).toEqual(['before'])
  })

  test('a database that does not answer loses one batch, and later ones are written when it answers', async () => {
    const { recorder, proxy, clock, timers, other } = await openRecorder()
    recorder.add(aRecordedRequest({ id: 'before' }))
    await recorder.list({ limit: 1 })
    proxy.requests = 'held'

    recorder.add(aRecordedRequest({ id: 'during' }))
    clock.advance(WRITE_EVERY_MS)
    await until('the batch is sent', () => timers.waiting > 0)
    timers.advance(10_000)
    await until('the record is lost', () => recorder.counts.dropped === 1)
    proxy.cut()
    proxy.heal()
    recorder.add(aRecordedRequest({ id: 'after' }))
    await recorder.list({ limit: 1 })

    expect(recorder.counts).toMatchObject({ written: 2, dropped: 1 })
    expect(recorder.problem).toBeUndefined()
    expect(await other.find('after')).toBeDefined()
  })

  test('a list is refused as unavailable while the database cannot be reached', async () => {
    const { recorder, proxy } = await openRecorder()
    proxy.stop()

    const refused = recorder.list({ limit: 1 }).catch((error: unknown) => error)

    expect(await refused).toMatchObject({ code: 'unavailable' })
  })
})
