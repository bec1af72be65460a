import { afterEach, describe, expect, test } from 'bun:test'
import { aProvider, at } from '../../../test/support/catalog-builders.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { turn } from '../../../test/support/turn.ts'
import { connections } from './database/database.ts'
import { lastMigration } from './database/migrate.ts'

const server = await runServer()
const ends: (() => unknown)[] = []
const KNOWN = lastMigration()
const POLL_MS = 500

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A node that polls when a test says so, and the problems that it reported. */
async function setUp() {
  const url = await aDatabase(server!)
  const sql = connections({ url }).connect()
  const clock = fakeClock()
  const problems: string[] = []
  const node = await aNode(url, 'old', clock, { onProblem: problem => void problems.push(problem) })
  ends.push(
    () => node.close(),
    () => sql.close(),
  )
  const migrateTo = (min: number) => sql`
    INSERT INTO migrations (number, name, checksum, min_number) VALUES (${min}, ${`${min}`}, '', ${min})`
  /** Lets the node poll, and resolves when it has the answer. */
  const poll = async () => {
    while (clock.waitingFor(POLL_MS) === 0) await turn()
    clock.advance(POLL_MS)
    while (clock.waitingFor(POLL_MS) === 0) await turn()
  }
  return { url, sql, clock, node, problems, migrateTo, poll }
}

describe.skipIf(server === undefined)('a node beside newer gateways', () => {
  test('an additive migration of a newer build changes nothing for it', async () => {
    const { sql, clock, node, problems, poll } = await setUp()
    await sql`INSERT INTO migrations (number, name, checksum, min_number) VALUES (${KNOWN + 1}, 'x', '', 0)`

    await poll()
    clock.advance(10_000)

    expect([node.problem(), node.refusal(), problems]).toEqual([undefined, undefined, []])
  })

  test('ten seconds after a gateway of a migration that is not additive started, it is unready, and ten later it refuses paid work', async () => {
    const { url, clock, node, problems, migrateTo, poll } = await setUp()
    await migrateTo(KNOWN + 1)
    // It has a clock of its own, so that `poll` waits for the other one.
    const newer = await aNode(url, 'new', fakeClock(), { migration: KNOWN + 1 })
    ends.push(() => newer.close())
    const now = () => ({ isReady: node.problem() === undefined, isRefusing: node.refusal() !== undefined })

    await poll()
    const seen = now()
    clock.advance(9999)
    const serving = now()
    clock.advance(1)
    const unready = now()
    clock.advance(9999)
    const draining = now()
    clock.advance(1)

    expect(seen).toEqual({ isReady: true, isRefusing: false })
    expect(serving).toEqual(seen)
    expect(unready).toEqual({ isReady: false, isRefusing: false })
    expect(draining).toEqual(unready)
    expect(node.problem()).toContain(
      `This gateway is too old for the database, which was changed for gateways that know migration ${KNOWN + 1}.`,
    )
    expect(node.refusal()).toMatchObject({ code: 'unavailable' })
    expect(problems).toEqual([node.problem()!])
    expect([newer.problem(), newer.refusal()]).toEqual([undefined, undefined])
  })

  test('it serves alone while no gateway that knows a migration that is not additive has started', async () => {
    const { clock, node, problems, migrateTo, poll } = await setUp()

    await migrateTo(KNOWN + 1)
    await poll()
    clock.advance(60_000)

    expect([node.problem(), node.refusal(), problems]).toEqual([undefined, undefined, []])
  })

  test.each([
    ['an earlier revision', 'revision = 1, updated_at_ms = 1'],
    ['another revision of the same number', 'updated_at_ms = 3'],
  ])('it reads the catalog again if a failover left %s', async (_, state) => {
    const { sql, node, poll } = await setUp()
    for (const [index, id] of ['kept', 'lost'].entries())
      await node.catalog.putProvider(aProvider(id), at(index + 1))
    await sql`DELETE FROM providers WHERE id = 'lost'`
    await sql.unsafe(`UPDATE catalog_state SET ${state}`)

    await poll()
    while (node.catalog.current().providers.has('lost')) await turn()

    expect([...node.catalog.current().providers.keys()]).toEqual(['kept'])
  })

  test('a row of the catalog that it cannot read makes it unready until it can be read', async () => {
    const { sql, node, problems, poll } = await setUp()
    const row = { id: 'new', position: 0, content: '{"kind":"unheard-of"}' }
    await sql`INSERT INTO providers ${sql(row)}`
    await sql`UPDATE catalog_state SET revision = revision + 1`

    await poll()
    while (node.problem() === undefined) await turn()
    const problem = node.problem()
    await sql`DELETE FROM providers`
    await poll()
    while (node.problem() !== undefined) await turn()

    expect(problem).toContain('The stored provider "new" cannot be read by this version of tollgate')
    expect(problem).toContain('This gateway goes on with the catalog before it.')
    expect(problems).toEqual([problem!])
    expect(node.refusal()).toBeUndefined()
  })
})
