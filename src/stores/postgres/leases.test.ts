import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { leasesConform } from '../../../test/conformance/leases.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { conformsOnPostgres } from '../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../test/support/rejection.ts'
import type { ReadQuery } from './database/reads.ts'
import { PostgresLeases } from './leases.ts'

conformsOnPostgres(leasesConform)

const server = await runServer()
const LONG_MS = 60_000

describe.skipIf(server === undefined)('a lease whose release the database did not answer', () => {
  let sql: SQL | undefined
  afterEach(() => sql?.close())

  /** Two nodes. The database answers the first one only while it is told to. */
  async function openNodes() {
    const opened = new SQL(await aDatabase(server!), { max: 1, bigint: true })
    sql = opened
    const database = { answers: true }
    const reads: ReadQuery = (strings, ...values) =>
      database.answers ? opened(strings, ...values) : Promise.reject(new Error('The database is lost.'))
    return { database, leases: new PostgresLeases({ reads }), other: new PostgresLeases({ reads: opened }) }
  }

  test('can be taken again by the node that had it, before its end', async () => {
    const { database, leases, other } = await openNodes()
    const lease = await leases.take('sweep', LONG_MS)
    database.answers = false
    await rejection(lease!.release())
    database.answers = true

    const ofOther = await other.take('sweep', LONG_MS)
    const again = await leases.take('sweep', LONG_MS)
    const third = await leases.take('sweep', LONG_MS)

    expect([ofOther, third]).toEqual([undefined, undefined])
    expect(again).toBeDefined()
  })

  test('stays with the node that took it meanwhile', async () => {
    const { database, leases, other } = await openNodes()
    const lease = await leases.take('sweep', 1)
    database.answers = false
    await rejection(lease!.release())
    database.answers = true
    let taken = await other.take('sweep', LONG_MS)
    while (taken === undefined) taken = await other.take('sweep', LONG_MS)

    expect(await leases.take('sweep', LONG_MS)).toBeUndefined()
  })
})
