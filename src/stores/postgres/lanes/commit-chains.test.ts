import type { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aCredit, anAccount, anAudit } from '../../../../test/support/ledger-builders.ts'
import { aDatabase, aCopyOf } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../../test/support/postgres/a-node.ts'
import { startS3Server } from '../../../../test/support/s3-server.ts'
import { usd } from '../../../domain/money.ts'
import { openSharedAnchor } from '../../../gateway/books/shared-anchor.ts'
import type { AnchorFile } from '../../../gateway/ports/ledger/anchor.ts'
import { httpClient } from '../../../http1/client/http-client.ts'
import { systemClock } from '../../../http1/system-clock.ts'
import { Timers } from '../../../http1/timers.ts'
import { connections } from '../database/database.ts'
import { LaneChains } from './commit-chains.ts'
import { anchorObject } from '../../s3/anchor-object.ts'
import { Bucket } from '../../s3/bucket.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

type Node = Awaited<ReturnType<typeof aNode>>

async function open(url: string, name: string): Promise<Node> {
  const node = await aNode(url, name)
  ends.push(() => node.close())
  return node
}

/** Two nodes over one database. The account is of both. */
async function twoNodes() {
  const url = await aDatabase(server!)
  const [one, other] = [await open(url, 'one'), await open(url, 'other')]
  const { accountId } = await anAccount(one, { funds: usd('1') })
  const credit = (node: Node) => node.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
  await credit(other)
  return { url, one, other, credit }
}

/** How many rows of commits were read by the index of their ids. */
async function readsOf(sql: SQL): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`
  const [row] = await sql<{ read: bigint }[]>`
    SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_user_tables WHERE relname = 'commits'`
  return Number(row!.read)
}

/** A number as PostgreSQL sends it. */
function int8(number: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(number))
  return bytes
}

/** What makes the anchor file of each node. */
async function aBucket(): Promise<() => AnchorFile> {
  const storage = await startS3Server()
  ends.push(() => storage.stop())
  const http = httpClient(new Timers(systemClock))
  return () => anchorObject(new Bucket(storage.settings, { http, clock: systemClock }))
}

/** The anchor of a node that just opened. */
async function anchorOf(node: Node, file: AnchorFile) {
  const failures: unknown[] = []
  const anchor = await openSharedAnchor({
    file,
    chains: node.commitChains,
    auditLog: node.auditLog,
    leases: node.leases,
    clock: fakeClock(),
    onFailed: error => failures.push(error),
  })
  ends.push(() => anchor.stop())
  return { anchor, failures }
}

describe.skipIf(server === undefined)('the chains of commits in PostgreSQL', () => {
  test('the chains of commits in PostgreSQL are those of all lanes, with the hashes of their commits', async () => {
    const { one, other, credit } = await twoNodes()
    const before = await one.commitChains.ends()

    await credit(other)
    const after = await one.commitChains.ends()

    expect(after.map(({ node }) => node)).toEqual(['lane-1', 'lane-2'])
    expect(after[1]!.number).toBe(before[1]!.number + 1)
    expect(await other.commitChains.ends()).toEqual(after)
    for (const end of [...before, ...after]) expect(await one.commitChains.hashOf(end)).toBe(end.hash)
    expect(await one.commitChains.hashOf({ node: 'lane-2', number: after[1]!.number + 1 })).toBeUndefined()
    expect(await one.commitChains.hashOf({ node: 'lane-3', number: 1 })).toBeUndefined()
  })

  test('the chains include those of books that were copied from SQLite, so that their loss is found', async () => {
    const url = await aDatabase(server!)
    const sql = connections({ url }).connect()
    ends.push(() => sql.close())
    await sql`INSERT INTO nodes (id, name) VALUES (1, 'main')`
    for (const number of [1, 2])
      await sql`INSERT INTO commits (id, node_id, number, checksums, hash)
        VALUES (${number * 10}, 1, ${number}, '', decode(repeat(${`0${number}`}, 32), 'hex'))`
    const node = await open(url, 'one')
    await anAccount(node, { funds: usd('1') })

    const found = await node.commitChains.ends()

    expect(found.map(({ node: name }) => name)).toEqual(['main', 'lane-1'])
    expect(found[0]).toEqual({ node: 'main', number: 2, hash: '02'.repeat(32) })
    for (const end of found) expect(await node.commitChains.hashOf(end)).toBe(end.hash)
    expect(await node.commitChains.hashOf({ node: 'main', number: 3 })).toBeUndefined()
  })

  test('the hash of any commit of a long chain is found in few reads, also if the anchor is far behind its end', async () => {
    const url = await aDatabase(server!)
    const sql = connections({ url }).connect()
    ends.push(() => sql.close())
    await open(url, 'one')
    const chains = new LaneChains({ reads: sql })
    const made = 30_000
    // With gaps between ids, and a few commits of another lane after them.
    await sql`INSERT INTO commits (id, node_id, number, checksums, hash)
      SELECT (lane << 43) + (n * n % 7) + n * 10, lane, n, '', sha256(int8send(n))
        FROM generate_series(1::bigint, 2) AS lane, generate_series(1::bigint, ${made} / CASE lane WHEN 1 THEN 1 ELSE 100 END) AS n`
    await sql`UPDATE lanes SET last_id = (number << 43) + ${made * 20}, commit_number = ${made}`
    const numbers = [1, 2, 3, 777, made / 2, made - 1, made]
    const before = await readsOf(sql)

    const found = await Promise.all(numbers.map(number => chains.hashOf({ node: 'lane-1', number })))
    const missing = await Promise.all([0, made + 1].map(number => chains.hashOf({ node: 'lane-1', number })))
    const read = (await readsOf(sql)) - before

    const hashes = numbers.map(number => new Bun.CryptoHasher('sha256').update(int8(number)).digest('hex'))
    expect(found).toEqual(hashes)
    expect(missing).toEqual([undefined, undefined])
    expect(read).toBeLessThan(9 * 50)
  })

  test('a node of PostgreSQL hears of each commit of its own chain, when every node can read it', async () => {
    const { one, other, credit } = await twoNodes()
    const heard: Promise<number>[] = []
    one.commitChains.onCommit(() => heard.push(other.commitChains.ends().then(([end]) => end!.number)))
    const [before] = await one.commitChains.ends()

    await credit(other)
    await credit(one)

    expect(await Promise.all(heard)).toEqual([before!.number + 1])
  })

  test('a restored database that lacks commits of two nodes is named at the start', async () => {
    const file = await aBucket()
    const { url, one, other, credit } = await twoNodes()
    const early = await anchorOf(one, file())
    await early.anchor.stop()
    await Promise.all([one.close(), other.close()])
    const backup = await aCopyOf(url, server!)
    const later = [await open(url, 'one'), await open(url, 'other')] as const
    for (const node of later) await credit(node)
    const kept = await anchorOf(later[0], file())
    await kept.anchor.stop()

    const restored = await open(backup, 'restored')
    const { anchor } = await anchorOf(restored, file())

    expect([early.anchor.problem, kept.anchor.problem]).toEqual([undefined, undefined])
    expect(anchor.problem).toMatch(/^The anchor s3:\/\/results\/anchor\.json does not match the books: /)
    for (const lane of ['lane-1', 'lane-2'])
      expect(anchor.problem).toMatch(
        new RegExp(`commit \\d+ of node "${lane}", but the books end at commit \\d+: \\d+ commits are lost`),
      )
    await anchor.acceptLoss(anAudit({ action: 'books.accept_loss', detail: 'the disk failed' }))
    expect(anchor.problem).toBeUndefined()
    expect(await file().read()).toEqual(await restored.commitChains.ends())
  })
})
