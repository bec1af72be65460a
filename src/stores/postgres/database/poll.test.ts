import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { turn } from '../../../../test/support/turn.ts'
import { connections } from './database.ts'
import { Poll, type Watch } from './poll.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A poll through a proxy, and the number of its queries. */
async function aPoll(watches: readonly Watch[]) {
  const url = await aDatabase(server!)
  const clock = fakeClock()
  const proxy = Proxy.to(url)
  const { connect, openReads } = connections({ url: proxy.url(url) })
  const reads = openReads()
  const asked = { count: 0 }
  const poll = new Poll({
    clock,
    watches,
    connect() {
      const sql = connect()
      const unsafe = sql.unsafe.bind(sql)
      return Object.assign(sql, {
        unsafe(text: string) {
          asked.count += 1
          return unsafe(text)
        },
      })
    },
  })
  ends.push(
    () => poll.close(),
    () => reads.close(),
    () => proxy.stop(),
  )
  return { clock, proxy, poll, asked }
}

describe.skipIf(server === undefined)('a poll of PostgreSQL', () => {
  test('all watches hear of their numbers with one query', async () => {
    const seen: bigint[][] = [[], []]
    const { poll, asked } = await aPoll([
      { sql: 'SELECT 2 + 3', seen: number => void seen[0]!.push(number) },
      { sql: 'SELECT 9223372036854775807', seen: number => void seen[1]!.push(number) },
    ])

    await poll.once()
    await poll.once()

    expect(seen).toEqual([
      [5n, 5n],
      [2n ** 63n - 1n, 2n ** 63n - 1n],
    ])
    expect(asked.count).toBe(2)
  })

  test('a poll counts from its start, and another one follows a database that did not answer', async () => {
    const { clock, proxy, poll } = await aPoll([{ sql: 'SELECT 1', seen: () => undefined }])
    await poll.once()
    const states = [poll.isFresh]

    proxy.answers = 'held'
    const late = poll.once()
    while (clock.waitingFor(1000) === 0) await turn()
    clock.advance(999)
    states.push(poll.isFresh)
    clock.advance(1)
    await late
    states.push(poll.isFresh)
    proxy.heal()
    await poll.once()
    states.push(poll.isFresh)

    expect(states).toEqual([true, true, false, true])
  })
})
