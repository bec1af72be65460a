import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { anEmptyDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { migrate } from './migrate.ts'
import { addPartitions, partitionMonthsAhead } from './partitions.ts'

const server = await runServer()

describe.skipIf(server === undefined)('the partitions of a month', () => {
  test('a new database has partitions for three months ahead, and a second run adds none', async () => {
    await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
    await migrate(sql)
    const before = await partitionMonthsAhead(sql)

    await addPartitions(sql)

    expect([before, await partitionMonthsAhead(sql)]).toEqual([3, 3])
  })

  test('a partition that one table lacks is seen, and added', async () => {
    await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
    await migrate(sql)
    const [latest] = await sql<{ name: string }[]>`
      SELECT max(relname) AS name FROM pg_class WHERE relname ~ '^charges_[0-9]{4}_[0-9]{2}$'`
    await sql.unsafe(`DROP TABLE ${latest!.name}`)
    const missing = await partitionMonthsAhead(sql)

    await addPartitions(sql)

    expect([missing, await partitionMonthsAhead(sql)]).toEqual([2, 3])
  })
})
