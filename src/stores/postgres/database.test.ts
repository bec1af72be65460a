import type { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { anEmptyDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { connections, requireSafeDatabase } from './database.ts'

const server = await runServer()
const opened: SQL[] = []

function connect(url: string): SQL {
  const { reads, connect: open } = connections(url)
  const sql = open()
  opened.push(reads, sql)
  return sql
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(sql => sql.close()))
})

describe.skipIf(server === undefined)('a database of PostgreSQL', () => {
  test('a database with the default settings is accepted', async () => {
    const sql = connect(await anEmptyDatabase(server!))

    await requireSafeDatabase(sql)

    const [row] = await sql<{ value: bigint }[]>`SELECT 9223372036854775807 AS value`
    expect(row?.value).toBe(2n ** 63n - 1n)
  })

  test.each(['off', 'local'])(
    'a database with synchronous_commit = %s is refused, because it loses acknowledged charges',
    async value => {
      const url = await anEmptyDatabase(server!)
      await connect(url).unsafe(
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = ${value}`,
      )

      const error = await rejection(requireSafeDatabase(connect(url)))

      expect(String(error)).toContain(
        `The database has synchronous_commit = ${value} and would lose charges.`,
      )
    },
  )

  test('a database that is stricter than needed is accepted', async () => {
    const url = await anEmptyDatabase(server!)
    const name = new URL(url).pathname.slice(1)
    await connect(url).unsafe(`ALTER DATABASE ${name} SET synchronous_commit = remote_apply`)

    expect(await requireSafeDatabase(connect(url))).toBeUndefined()
  })

  test.each(['fsync', 'full_page_writes'])(
    'a database with %s = off is refused, because a power failure damages it',
    async name => {
      const sql = connect(await anEmptyDatabase(server!))
      await sql.unsafe(`ALTER SYSTEM SET ${name} = off`)
      await reloaded(sql, name, 'off')

      const error = await rejection(requireSafeDatabase(sql))

      expect(String(error)).toContain(`The database has ${name} = off and would lose charges. Set it to on.`)
      await sql.unsafe(`ALTER SYSTEM RESET ${name}`)
      await reloaded(sql, name, 'on')
    },
  )

  test('a database in another encoding than UTF8 is refused', async () => {
    const sql = connect(await anEmptyDatabase(server!, "ENCODING 'LATIN1' TEMPLATE template0"))

    const error = await rejection(requireSafeDatabase(sql))

    expect(String(error)).toContain('The encoding of the database is LATIN1. Create it with UTF8.')
  })
})

/** Reads the configuration again until the connection has it. */
async function reloaded(sql: SQL, name: string, value: string): Promise<void> {
  for (;;) {
    const [row] = await sql<{ value: string }[]>`SELECT current_setting(${name}) AS value, pg_reload_conf()`
    if (row?.value === value) return
  }
}
