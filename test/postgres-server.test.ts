import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runServer } from './support/postgres/run-server.ts'
import { PostgresServer } from './support/postgres/server.ts'

const server = await runServer()

test.skipIf(server === undefined)(
  'the PostgreSQL server of the tests keeps what was committed when it crashes',
  async () => {
    const own = await PostgresServer.start(server!.major)
    const before = new SQL(own.url('postgres'), { max: 1 })
    await before`CREATE TABLE kept (value integer)`
    await before`INSERT INTO kept VALUES (7)`

    await own.crash()
    await own.restart()

    const after = new SQL(own.url('postgres'), { max: 1 })
    const rows = await after<{ value: number }[]>`SELECT value FROM kept`
    expect(rows.map(({ value }) => value)).toEqual([7])
    await Promise.all([before.close(), after.close(), own.crash()])
  },
)

test.skipIf(server === undefined)(
  'the PostgreSQL server of the tests ends when the test run is killed',
  async () => {
    const script = `
      const { PostgresServer } = await import(${JSON.stringify(join(import.meta.dirname, 'support/postgres/server.ts'))})
      console.log((await PostgresServer.start(${server!.major})).url('postgres'))`
    const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
    const url = new TextDecoder().decode((await run.stdout.getReader().read()).value).trim()
    const { promise: closed, resolve } = Promise.withResolvers<unknown>()
    const watching = new SQL(url, { max: 1, onclose: resolve })
    await watching`SELECT 1`

    run.kill('SIGKILL')

    expect(await closed).toBeInstanceOf(Error)
    // Open connections end one after the other, but from the first of them on, new ones are refused.
    expect(await new SQL(url, { max: 1 })`SELECT 1`.catch(() => 'ended')).toBe('ended')
  },
)
