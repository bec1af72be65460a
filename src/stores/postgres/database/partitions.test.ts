import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { farFromMidnight } from '../../../../test/support/far-from-midnight.ts'
import { anEmptyDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { migrate } from './migrate.ts'
import { addPartitions, partitionMonthsAhead } from './partitions.ts'

const server = await runServer()

describe.skipIf(server === undefined)('the partitions of a month', () => {
  test('a new database has partitions for three months ahead, and a second run adds none', async () => {
    await farFromMidnight()
    await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
    await migrate(sql)
    const before = await partitionMonthsAhead(sql)

    await addPartitions(sql)

    expect([before, await partitionMonthsAhead(sql)]).toEqual([3, 3])
  })

  test('a partition that one table lacks is seen, and added', async () => {
    await farFromMidnight()
    await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
    await migrate(sql)
    const [latest] = await sql<{ name: string }[]>`
      SELECT max(relname) AS name FROM pg_class WHERE relname ~ '^charges_[0-9]{4}_[0-9]{2}$'`
    await sql.unsafe(`DROP TABLE ${latest!.name}`)
    const missing = await partitionMonthsAhead(sql)

    await addPartitions(sql)

    expect([missing, await partitionMonthsAhead(sql)]).toEqual([2, 3])
  })

  test.each([
    ['this month', 0, 'DROP TABLE', -1],
    ['the next month', 1, 'DROP TABLE', 0],
    ['the month after that', 2, 'DROP TABLE', 1],
    ['the next month, whose table is no partition any more', 1, 'ALTER TABLE charges DETACH PARTITION', 0],
  ])(
    'the missing partition of %s is seen although later ones exist, and added',
    async (_, after, remove, ahead) => {
      await farFromMidnight()
      await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
      await migrate(sql)
      const rows = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class WHERE relname ~ '^charges_[0-9]{4}_[0-9]{2}$' ORDER BY relname`
      await sql.unsafe(`${remove} ${rows[after]!.name}`)
      const missing = await partitionMonthsAhead(sql)

      await addPartitions(sql)

      expect([missing, await partitionMonthsAhead(sql)]).toEqual([ahead, 3])
    },
  )

  test('the partitions of months in which no gateway ran are added', async () => {
    await farFromMidnight()
    await using sql = new SQL({ url: await anEmptyDatabase(server!), max: 1, bigint: true })
    await migrate(sql)

    await sql`SELECT add_partitions(3, (clock_timestamp() AT TIME ZONE 'UTC' + interval '8 months') AT TIME ZONE 'UTC')`

    const rows = await sql<object[]>`SELECT FROM pg_class WHERE relname ~ '^charges_[0-9]{4}_[0-9]{2}$'`
    expect(rows).toHaveLength(12)
  })
})
