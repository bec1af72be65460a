import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { anEmptyDatabase } from '../../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { until } from '../../../http1/testing/until.ts'
import { connections } from './database.ts'
import { timedReads } from './reads.ts'

const server = await runServer()
const ANSWER_MS = 1000
const ends: (() => unknown)[] = []

/** Reads over a network that can be cut. A test says when the time for an answer has passed. */
async function setUp() {
  const clock = fakeClock()
  const proxy = Proxy.to(await anEmptyDatabase(server!))
  const { openReads } = connections({ url: proxy.url(await anEmptyDatabase(server!)) })
  const reads = timedReads(openReads, { answerMs: ANSWER_MS, after: clock.after })
  ends.push(
    () => reads.close(),
    () => proxy.stop(),
  )
  await reads`SELECT 1`
  return { clock, proxy, reads }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.skipIf(server === undefined)('reads of PostgreSQL', () => {
  test.each(['requests', 'answers'] as const)(
    'a read whose %s are lost in the network fails with unavailable, and later ones use other connections',
    async direction => {
      const { clock, proxy, reads } = await setUp()
      proxy[direction] = 'lost'

      const both = Promise.all([
        rejection(reads`SELECT 1`),
        rejection(reads.begin('read only', sql => sql`SELECT 1`)),
      ])
      await until('both are lost', () => proxy.lost >= 2)
      clock.advance(ANSWER_MS)
      const lost = await both
      proxy.heal()
      const found = await reads<{ two: number }[]>`SELECT 2 AS two`

      expect(lost).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }])
      expect(found[0]).toEqual({ two: 2 })
    },
  )

  test('a transaction that is cut between two queries fails with unavailable', async () => {
    const { clock, proxy, reads } = await setUp()

    const lost = rejection(
      reads.begin('read only', async (sql, answered) => {
        await sql`SELECT 1`
        answered?.()
        proxy.answers = 'lost'
        return sql`SELECT 2`
      }),
    )
    await until('the answer is lost', () => proxy.lost > 0)
    clock.advance(ANSWER_MS)

    expect(await lost).toMatchObject({ code: 'unavailable' })
  })

  test('a transaction may take longer than one answer', async () => {
    const { clock, reads } = await setUp()

    const slow = reads.begin('read only', async (sql, answered) => {
      for (let queries = 0; queries < 4; queries += 1) {
        await sql`SELECT 1`
        clock.advance(ANSWER_MS - 1)
        answered?.()
      }
      return 'done'
    })

    expect(await slow).toBe('done')
  })

  test('a read that the server ends with its connection fails with unavailable', async () => {
    const { proxy, reads } = await setUp()
    const running = reads`SELECT pg_sleep(10)`
    // The query is sent when it is awaited.
    const lost = rejection(running)
    await reads`SELECT 1`

    proxy.cut()

    expect(await lost).toMatchObject({ code: 'unavailable' })
    expect(await reads`SELECT 1`).toHaveLength(1)
  })

  test('an error of a query is told as it is', async () => {
    const { reads } = await setUp()

    expect(await rejection(reads`SELECT nothing`)).toMatchObject({ code: 'ERR_POSTGRES_SERVER_ERROR' })
  })
})
