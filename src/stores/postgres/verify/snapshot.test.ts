import { SQL } from 'bun'
import { afterAll, describe, expect, test } from 'bun:test'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { Snapshot } from './snapshot.ts'

const server = await runServer()
const opened: SQL[] = []

afterAll(async () => {
  for (const sql of opened) await sql.close({ timeout: 0 })
})

describe.skipIf(server === undefined)('a snapshot of the books', () => {
  test('the time limits of a role do not end a check of large books', async () => {
    const sql = new SQL({ url: await aDatabase(server!), max: 1 })
    opened.push(sql)
    await sql`SET statement_timeout = '300ms'`

    const waited = await Snapshot.take({ begin: (mode, work) => sql.begin(mode, work) }, async snapshot => {
      const rows: unknown[] = []
      for await (const page of snapshot.rows<{ waited: string }>('SELECT pg_sleep(0.4)::text AS waited'))
        rows.push(...page)
      return rows
    })

    expect(waited).toHaveLength(1)
    expect([...(await sql`SHOW statement_timeout`)]).toEqual([{ statement_timeout: '300ms' }])
  })
})
