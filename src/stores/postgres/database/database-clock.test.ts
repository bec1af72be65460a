import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { connections } from './database.ts'
import { DatabaseClock } from './database-clock.ts'
import { Poll } from './poll.ts'

const server = await runServer()
const ends: (() => unknown)[] = []
const START_MS = 1_800_000_000_000

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The clock of a node of a database whose time is a fake one, with that of its machine. */
async function setUp() {
  const { connect, openReads } = connections({ url: await aDatabase(server!) })
  const reads = openReads()
  ends.push(() => reads.close())
  const [machine, database] = [fakeClock(START_MS - 600_000), fakeClock(START_MS)]
  const clock = await DatabaseClock.open({ clock: machine, reads, nowMs: () => database.now() })
  const measure = (sentAtMs: number, answeredAtMs: number) =>
    clock.watch.seen(0n, {
      sentAtMs: machine.monotonicMs() + sentAtMs,
      answeredAtMs: machine.monotonicMs() + answeredAtMs,
    })
  return { connect, reads, machine, database, clock, measure }
}

describe.skipIf(server === undefined)('the time of PostgreSQL in a node', () => {
  test('is that of the database, however wrong the clock of the machine is, and also after that is set', async () => {
    const { machine, clock } = await setUp()
    const [before, offsetBefore] = [clock.now(), clock.offsetMs]

    machine.setWallClock(START_MS + 7_200_000)

    expect([before, offsetBefore]).toEqual([START_MS, -600_000])
    expect([clock.now(), clock.offsetMs]).toEqual([START_MS, 7_200_000])
    machine.advance(250)
    expect(clock.now()).toBe(START_MS + 250)
  })

  test.each([
    ['an answer that agrees with it changes nothing', { stepMs: 0, tookMs: [-40, 60] }, 0],
    ['a slow answer that may agree with it changes nothing', { stepMs: 300, tookMs: [0, 900] }, 0],
    ['a fast answer corrects it', { stepMs: 300, tookMs: [0, 0] }, 300],
    ['it moves no further than the answer shows', { stepMs: 300, tookMs: [0, 100] }, 200],
    ['it follows a clock that was set back', { stepMs: -600_000, tookMs: [0, 10] }, -600_000],
    ['it follows a clock that was set forward', { stepMs: 600_000, tookMs: [-10, 0] }, 600_000],
  ] as const)('of a poll: %s', async (_, { stepMs, tookMs: [sentMs, answeredMs] }, movedMs) => {
    const { database, clock, measure } = await setUp()
    database.setWallClock(START_MS + stepMs)

    measure(sentMs, answeredMs)

    expect(Math.abs(clock.now() - START_MS - movedMs)).toBeLessThanOrEqual(1)
  })

  test('is read by each poll from the clock of the server', async () => {
    const { connect, reads } = await setUp()
    const machine = fakeClock(0)
    const clock = await DatabaseClock.open({ clock: machine, reads })
    const poll = new Poll({ connect, clock: machine, watches: [clock.watch] })
    ends.push(() => poll.close())
    // As if the machine had been suspended since the database was asked.
    machine.jump(3_600_000)
    const ahead = clock.now() - Date.now()

    await poll.once()

    expect(ahead).toBeGreaterThan(3_500_000)
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000)
  })
})
