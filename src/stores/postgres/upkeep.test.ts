import type { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { farFromMidnight } from '../../../test/support/far-from-midnight.ts'
import { anEmptyDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { connections } from './database/database.ts'
import { migrate } from './database/migrate.ts'
import { noteClockOffset, partitionProblem, runningNodes, upkeep } from './upkeep.ts'

const server = await runServer()
const opened: SQL[] = []
const NOW = 1_800_000_000_000
const DAY_MS = 86_400_000

async function open(): Promise<SQL> {
  const sql = connections({ url: await anEmptyDatabase(server!) }).connect()
  opened.push(sql)
  await migrate(sql)
  return sql
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(sql => sql.close()))
})

describe.skipIf(server === undefined)('the upkeep of a PostgreSQL database', () => {
  test('deletes holds a day after they expired, and no others', async () => {
    const sql = await open()
    const expiries = [null, NOW - DAY_MS + 1, NOW - DAY_MS]
    for (const [index, expiredAtMs] of expiries.entries())
      await sql`INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch, expired_at_ms)
        VALUES (${index}, 0, 1, 0, 1, 1, ${expiredAtMs})`

    await upkeep(sql, NOW)

    const left = await sql<{ id_key: bigint }[]>`SELECT id_key FROM text_holds ORDER BY id_key`
    expect(left.map(({ id_key: key }) => key)).toEqual([0n, 1n])
  })

  test('adds a missing partition of the next month, which is a problem until then', async () => {
    await farFromMidnight()
    const sql = await open()
    const none = await partitionProblem(sql)
    const rows = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'charges'::regclass AND relname <> 'charges_before' ORDER BY relname DESC LIMIT 3`
    for (const { name } of rows) await sql.unsafe(`DROP TABLE ${name}`)

    const problem = await partitionProblem(sql)
    await upkeep(sql, null)

    expect(none).toBeUndefined()
    expect(problem).toContain('no partition for the charges of the next month')
    expect(await partitionProblem(sql)).toBeUndefined()
  })

  test('names the month that has no partition, also if later ones have some', async () => {
    await farFromMidnight()
    const sql = await open()
    const rows = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class WHERE relname ~ '^operations_[0-9]{4}_[0-9]{2}$' ORDER BY relname`

    await sql.unsafe(`DROP TABLE ${rows[1]!.name}`)
    const next = await partitionProblem(sql)
    await sql.unsafe(`DROP TABLE ${rows[0]!.name}`)
    const now = await partitionProblem(sql)

    expect(next).toContain('no partition for the charges of the next month, so they could not be written.')
    expect(now).toContain('no partition for the charges of this month, so they cannot be written.')
  })

  test('lists the nodes that have a lane, with their open holds and clocks, and which are too old', async () => {
    const sql = await open()
    await sql`SELECT claim_lane_v1('one', '1.2.3', 11, 1000, ${NOW})`
    await sql`SELECT claim_lane_v1('new', '1.2.3', 11, 1000, ${NOW})`
    await sql`SELECT claim_lane_v1('stopped', '1.2.3', 11, 1000, ${NOW})`
    await noteClockOffset(sql, { process: 'lane-1/1', offsetMs: -600_000 })
    await noteClockOffset(sql, { process: 'lane-2/9', offsetMs: 1 })
    await sql`UPDATE lanes SET seen_at_ms = 0 WHERE label = 'stopped'`
    for (const epoch of [0, 1, 1])
      await sql`INSERT INTO text_holds (id_key, id_tail, account_id, amount, lane, epoch)
        VALUES ((SELECT count(*) FROM text_holds), 0, 1, 0, 1, ${epoch})`

    const before = await runningNodes(sql)

    await sql`UPDATE migrations SET min_number = 12 WHERE number = 11`
    const [afterwards] = await runningNodes(sql)

    const seen = { version: '1.2.3', isTooOld: false, seenAtMs: NOW }
    expect(before).toEqual([
      { ...seen, name: 'one', lane: { number: 1, epoch: 1 }, clockOffsetMs: -600_000, textHolds: 2 },
      { ...seen, name: 'new', lane: { number: 2, epoch: 1 }, clockOffsetMs: null, textHolds: 0 },
    ])
    expect(afterwards?.isTooOld).toBe(true)
  })
})
