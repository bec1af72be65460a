import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { turn } from '../../../test/support/turn.ts'
import type { BookChecks, StoredCheck } from '../../gateway/ports/ledger/book-checks.ts'
import { connections } from './database/database.ts'
import { PostgresBookChecks } from './book-checks.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The stored check of a database whose clock a test sets. */
async function setUp() {
  const reads = connections({ url: await aDatabase(server!) }).openReads()
  ends.push(() => reads.close())
  const clock = fakeClock()
  return { clock, checks: new PostgresBookChecks({ reads, nowMs: () => clock.now() }) }
}

const SOUND = { entries: 4, affected: [], openProblems: 0 } as const

/** The numbers of a full check that begins now. */
async function full(checks: BookChecks) {
  const { number, lastNumber } = await checks.begin()
  return { number, fullNumber: number, lastNumber }
}

function numbersOf({ number, fullNumber }: Pick<StoredCheck, 'number' | 'fullNumber'>) {
  return { number, fullNumber }
}

describe.skipIf(server === undefined)('the stored check of the books', () => {
  test.each<{ readonly affected: StoredCheck['affected'] }>([
    { affected: [] },
    { affected: [1, 2, 9_000_000_000] },
    { affected: 'everything' },
  ])('has the accounts that are affected: $affected', async ({ affected }) => {
    const { clock, checks } = await setUp()
    const before = await checks.last()
    const { lastNumber, ...numbers } = await full(checks)
    const check = { ...numbers, entries: 5_000_000_000, affected, openProblems: 3 }
    clock.jump(9)

    const isStored = await checks.store({ ...check, lastNumber })

    expect(before).toBeUndefined()
    expect(isStored).toBe(true)
    expect(await checks.last()).toEqual({ ...check, endedAtMs: clock.now(), fullEndedAtMs: clock.now() })
  })

  test('numbers are times, and grow also when the clock is set back', async () => {
    const { clock, checks } = await setUp()
    const startedAtMs = clock.now()

    const begun = [await checks.begin(), await checks.begin()]
    clock.setWallClock(startedAtMs - 9000)
    begun.push(await checks.begin())
    clock.setWallClock(startedAtMs + 9000)
    begun.push(await checks.begin())

    expect(begun.map(({ number }) => number - startedAtMs)).toEqual([0, 1, 2, 9000])
  })

  test('a check that began later stays, whichever ends last', async () => {
    const { checks } = await setUp()
    const [first, second] = [await full(checks), await full(checks)]

    await checks.store({ ...SOUND, ...second })
    await checks.store({ ...SOUND, ...first, affected: [1], openProblems: 1 })

    expect(await checks.last()).toMatchObject({ ...SOUND, ...numbersOf(second) })
  })

  test('a check of recent rows keeps the time of the full one before it', async () => {
    const { clock, checks } = await setUp()
    const first = await full(checks)
    await checks.store({ ...SOUND, ...first })
    const fullEndedAtMs = clock.now()
    clock.jump(9)

    const recent = await checks.begin()
    await checks.store({ ...SOUND, ...recent })

    expect(recent).toMatchObject({ fullNumber: first.number, fullEndedAtMs })
    expect(await checks.last()).toMatchObject({ endedAtMs: clock.now(), fullEndedAtMs })
  })

  test('a check of recent rows does not replace a full check that ended after it had begun', async () => {
    const { checks } = await setUp()
    const slow = await full(checks)
    const [before, after] = [await checks.begin(), await checks.begin()]

    await checks.store({ ...SOUND, ...before })
    await checks.store({ ...SOUND, ...slow, affected: [1], openProblems: 1 })
    await checks.store({ ...SOUND, ...after })

    expect(await checks.last()).toMatchObject({ ...numbersOf(slow), affected: [1], openProblems: 1 })
  })

  test.each<{ readonly affected: StoredCheck['affected'] }>([{ affected: [1] }, { affected: 'everything' }])(
    'a check of recent rows replaces a result that stops $affected only if that was stored before it began',
    async ({ affected }) => {
      const { checks } = await setUp()
      await checks.store({ ...SOUND, ...(await full(checks)) })
      const [found, meanwhile] = [await checks.begin(), await checks.begin()]
      await checks.store({ ...SOUND, ...found, affected, openProblems: 1 })

      const outcomes = [await checks.store({ ...SOUND, ...meanwhile })]
      const stopped = await checks.last()
      outcomes.push(await checks.store({ ...SOUND, ...(await checks.begin()) }))

      expect(outcomes).toEqual([false, true])
      expect(stopped).toMatchObject({ affected, openProblems: 1 })
      expect(await checks.last()).toMatchObject(SOUND)
    },
  )

  test('listeners hear the result that was stored before, and none twice', async () => {
    const url = await aDatabase(server!)
    const clock = fakeClock()
    const node = await aNode(url, 'one', clock)
    ends.push(() => node.close())
    await node.bookChecks.store({ ...SOUND, ...(await full(node.bookChecks)) })
    const heard: StoredCheck[] = []
    const poll = async () => {
      while (clock.waitingFor(500) === 0) await turn()
      clock.advance(500)
      while (clock.waitingFor(500) === 0) await turn()
    }
    await poll()

    const first = Promise.withResolvers<void>()
    node.bookChecks.onStored(check => {
      heard.push(check)
      first.resolve()
    })
    await poll()
    await first.promise
    await poll()
    await poll()

    expect(heard).toEqual([(await node.bookChecks.last())!])
  })
})
