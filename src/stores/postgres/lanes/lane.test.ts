import type { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { aCharge, anId, NOW } from '../../../../test/support/ledger-builders.ts'
import { anAccountIn, problemsOf } from '../../../../test/support/postgres/books.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { until } from '../../../http1/testing/until.ts'
import { usd, ZERO } from '../../../domain/money.ts'
import { Batches } from './batches.ts'
import { connections } from '../database/database.ts'
import { meaningOf } from '../database/database-errors.ts'
import { Lane, LANE_TTL_MS } from './lane.ts'
import { PostedBatch } from './post.ts'
import { sealSilentLanes } from './stored-rows.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

async function setUp() {
  const url = await aDatabase(server!)
  const { openReads } = connections({ url })
  const reads = openReads()
  ends.push(() => reads.close())
  const clock = { nowMs: NOW }
  /** A node that its test closes. */
  const openUnclosed = (label: string, at = url) =>
    Batches.open({
      connect: connections({ url: at }).connect,
      label,
      version: '1',
      nowMs: () => clock.nowMs,
    })
  const openAt = async (at: string, label: string) => {
    const batches = await openUnclosed(label, at)
    ends.push(() => batches.close())
    return batches
  }
  const open = (label: string) => openAt(url, label)
  /** A node whose network can be held, as if its process was frozen. */
  const openFrozen = async () => {
    const proxy = Proxy.to(url)
    const batches = await openAt(proxy.url(url), 'frozen')
    ends.push(() => proxy.stop())
    return { batches, proxy }
  }
  const accountId = await anAccountIn(reads, usd('5'))
  const aHold = () => ({ id: anId(), accountId, kind: 'text', amount: ZERO }) as const
  const charge = async (batches: Batches) => {
    const hold = aHold()
    await batches.place(hold)
    return batches.charge({ hold, charge: aCharge(1), tariffId: null })
  }
  const sql = connections({ url }).connect()
  ends.push(() => sql.close())
  return { url, reads, sql, clock, open, openUnclosed, openFrozen, aHold, charge }
}

/** Whether all lanes have stored the commits of their last batches. */
async function isSealed(sql: SQL) {
  const open = await sql<object[]>`SELECT FROM lanes WHERE sealed_id < last_id`
  return open.length === 0
}

afterEach(async () => {
  // The network of a node is closed before the node.
  for (const end of ends.splice(0).toReversed()) await end()
})

describe.skipIf(server === undefined)('lanes', () => {
  test('nodes that start at the same time take different lanes', async () => {
    const { open } = await setUp()

    const nodes = await Promise.all(['a', 'b', 'c'].map(open))

    expect(new Set(nodes.map(({ lane }) => lane))).toEqual(new Set([1n, 2n, 3n]))
  })

  test('a node that was closed gives its lane to the next one, whatever its name is', async () => {
    const { open } = await setUp()
    const first = await open('a')
    await open('b')
    await first.close()

    const next = await open('c')

    expect(next.lane).toBe(1n)
  })

  test('a lane can be taken after it was not seen for 120 seconds, and not before', async () => {
    const { open, clock } = await setUp()
    await open('a')

    clock.nowMs += LANE_TTL_MS - 1
    const early = await open('b')
    clock.nowMs += 1
    const late = await open('c')

    expect([early.lane, late.lane]).toEqual([2n, 1n])
  })

  test('each batch shows that its lane is in use', async () => {
    const { open, clock, charge } = await setUp()
    const first = await open('a')
    clock.nowMs += LANE_TTL_MS - 1
    await charge(first)
    clock.nowMs += LANE_TTL_MS - 1

    const second = await open('b')

    expect(second.lane).toBe(2n)
  })

  test('a node goes on with the row ids and the chain of commits of its lane', async () => {
    const { open, charge, reads } = await setUp()
    const first = await open('a')
    await charge(first)
    await first.close()
    const second = await open('b')

    await charge(second)
    await second.close()

    const rows = await reads<{ number: bigint }[]>`SELECT number FROM commits ORDER BY id`
    expect(rows.map(({ number }) => number)).toEqual([1n, 2n])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a lane without work stores the commit of its last batch', async () => {
    const { open, charge, reads } = await setUp()
    await charge(await open('a'))

    let commits: unknown[] = []
    while (commits.length === 0) commits = await reads`SELECT * FROM commits`

    expect(await problemsOf(reads)).toEqual([])
  })

  test('the last batch of a node that was killed is sealed by another node, once, after 120 seconds', async () => {
    const { openUnclosed, charge, reads, clock, url } = await setUp()
    const proxy = Proxy.to(url)
    const killed = await openUnclosed('killed', proxy.url(url))
    // It cannot store its last commit, and says so unless it has tried before.
    ends.push(() => killed.close().catch(() => undefined))
    await charge(killed)
    proxy.stop()
    const early = await sealSilentLanes(reads, clock.nowMs + LANE_TTL_MS - 1)
    const unsealed = await reads`SELECT * FROM commits`

    const sealed = await Promise.all([1, 2].map(() => sealSilentLanes(reads, clock.nowMs + LANE_TTL_MS)))

    expect([early, unsealed.length, sealed[0]! + sealed[1]!]).toEqual([0, 0, 1])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a lane whose process writes again before another node seals it is not sealed', async () => {
    const { openFrozen, charge, sql, clock } = await setUp()
    const { batches: frozen, proxy } = await openFrozen()
    await charge(frozen)
    proxy.requests = 'held'
    clock.nowMs += LANE_TTL_MS
    const begin = sql.begin.bind(sql) as (work: (sql: SQL) => Promise<unknown>) => Promise<unknown>
    const sealing = Object.assign(sql, {
      async begin(work: (sql: SQL) => Promise<unknown>) {
        proxy.heal()
        await charge(frozen)
        proxy.requests = 'held'
        return begin(work)
      },
    })

    const sealed = await sealSilentLanes(sealing, clock.nowMs)
    proxy.heal()
    await charge(frozen)
    await frozen.close()

    expect([sealed, frozen.process]).toEqual([0, 'lane-1/1'])
  })

  test('a silent node whose lane is sealed and was not taken goes on with its lane', async () => {
    const { open, charge, clock, reads } = await setUp()
    const node = await open('a')
    await charge(node)
    await until('its lane is sealed', () => isSealed(reads))
    clock.nowMs += 10 * LANE_TTL_MS
    const sealed = await sealSilentLanes(reads, clock.nowMs)

    const answer = await charge(node)

    expect([sealed, node.process]).toEqual([0, 'lane-1/1'])
    expect(answer).toMatchObject({ captured: { cost: usd('1') } })
  })

  test('a node that cannot store its last commit says so when it closes, and another node stores it', async () => {
    const { openUnclosed, charge, clock, reads, sql } = await setUp()
    const full = await openUnclosed('a')
    await sql.unsafe(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'No space' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON commits FOR EACH ROW EXECUTE FUNCTION fail()`)
    await charge(full)

    const problem = await rejection(full.close())
    await sql.unsafe('DROP TRIGGER fail ON commits')
    const early = await sealSilentLanes(reads, clock.nowMs)
    clock.nowMs += LANE_TTL_MS
    const late = await sealSilentLanes(reads, clock.nowMs)

    expect(problem).toMatchObject({
      message: expect.stringContaining('The last commit of lane 1 was not stored'),
    })
    expect([early, late]).toEqual([0, 1])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a node whose last commit is not answered says when it closes that nobody knows if it is stored', async () => {
    const { openUnclosed, charge, url } = await setUp()
    const proxy = Proxy.to(url)
    ends.push(() => proxy.stop())
    const cutOff = await openUnclosed('a', proxy.url(url))
    await charge(cutOff)
    proxy.requests = 'held'

    const closing = rejection(cutOff.close())

    expect(await closing).toMatchObject({
      message: expect.stringContaining('It is not known whether the last commit of lane 1 was stored'),
    })
  })

  test('a step of a frozen node whose lane was taken in the meantime is done once, in another lane', async () => {
    const { open, openFrozen, charge, clock, reads } = await setUp()
    const { batches: frozen, proxy } = await openFrozen()
    await charge(frozen)
    await until('its lane is sealed', () => isSealed(reads))
    const seen = new Set<bigint>()
    proxy.requests = 'held'
    const step = frozen.run(async ({ sql }) => {
      seen.add(frozen.lane)
      await sql`INSERT INTO access_changes DEFAULT VALUES`
    })
    clock.nowMs += LANE_TTL_MS
    const next = await open('b')

    proxy.heal()
    await step
    await frozen.close()

    expect([next.lane, frozen.lane]).toEqual([1n, 2n])
    expect([...seen]).toEqual([2n])
    expect(await reads`SELECT * FROM access_changes`).toHaveLength(1)
  })

  test('a batch that arrives after another attempt was asked for is not written', async () => {
    const { reads, sql, aHold } = await setUp()
    const lane = await Lane.claim(sql, { label: 'a', version: '1', migration: 0, nowMs: NOW })
    const place = lane.next(0)
    const batch = new PostedBatch({ place, nowMs: NOW }, { charges: [], ends: [], holds: [aHold()] })

    const found = await lane.fateOf(sql, place)
    const late = await rejection(batch.send(sql))

    expect(found.fate).toBe('not committed')
    expect(meaningOf(late)).toBe('fenced')
    expect(await reads`SELECT * FROM text_holds`).toHaveLength(0)
  })

  test('a batch that was committed is known as such however often it is asked for', async () => {
    const { sql, aHold } = await setUp()
    const lane = await Lane.claim(sql, { label: 'a', version: '1', migration: 0, nowMs: NOW })
    const place = lane.next(0)
    await new PostedBatch({ place, nowMs: NOW }, { charges: [], ends: [], holds: [aHold()] }).send(sql)

    const fates = [await lane.fateOf(sql, place), await lane.fateOf(sql, place)]

    expect(fates.map(({ fate }) => fate)).toEqual(['committed', 'committed'])
  })

  test('a frozen node whose last batch was sealed by another node goes on with another lane', async () => {
    const { openFrozen, charge, reads, clock } = await setUp()
    const { batches: frozen, proxy } = await openFrozen()
    await charge(frozen)
    proxy.requests = 'held'
    clock.nowMs += LANE_TTL_MS
    const sealed = await sealSilentLanes(reads, clock.nowMs)
    const charging = charge(frozen)
    proxy.heal()

    const answer = await charging
    await frozen.close()

    expect(sealed).toBe(1)
    expect(answer).toEqual({ captured: { cost: usd('1'), shortfall: usd('1') } })
    expect(await problemsOf(reads)).toEqual([])
  })
})
