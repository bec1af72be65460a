import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { until } from '../../../test/support/until.ts'
import { usd } from '../../domain/money.ts'
import { acceptProblem, OperatorChecks } from '../admin/operating/verify-books.ts'
import type { Ledger, Problem, Verification } from '../ports/ledger/ledger.ts'
import { BooksGuard } from './books-guard.ts'
import { checkBooksRegularly } from './check-books-regularly.ts'
import { checkBooks, checkRecentRows, type CheckResult } from './check-books.ts'
import { SharedChecks } from './shared-checks.ts'

const server = await runServer()
const ends: (() => unknown)[] = []
const HOUR = 3_600_000
const MINUTE = 60_000
const POLL_MS = 500
const RENEW_EVERY_MS = 20_000

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A database with the accounts "ada" and "ben", and two gateways on it. */
async function setUp() {
  const url = await aDatabase(server!)
  const clock = fakeClock()
  const sql = new SQL(url, { max: 1 })
  ends.push(() => sql.close())
  const start = (name: string, ownClock = clock) => aGateway(url, name, ownClock)
  const [one, two] = [await start('one'), await start('two')]
  const { accountId: ada } = await anAccount(one.node, { name: 'ada', funds: usd('5') })
  const { accountId: ben } = await anAccount(one.node, { name: 'ben', funds: usd('5') })
  /** Makes the books of ada wrong. */
  const edit = () => sql`UPDATE balances SET losses = 7 WHERE account_id = ${ada}`
  /** Lets both gateways poll once. */
  const poll = async () => {
    await until('both poll', () => clock.waitingFor(POLL_MS) === 2)
    clock.advance(POLL_MS)
    await until('both have polled', () => clock.waitingFor(POLL_MS) === 2)
  }
  const refused = () =>
    [one, two].map(({ guard }) => [ada, ben].filter(account => guard.refusalOf(account) !== undefined))
  return { clock, sql, start, one, two, ada, ben, edit, poll, refused }
}

/** What a gateway has to check the books. `verify` replaces the check itself. */
async function aGateway(url: string, name: string, clock: FakeClock) {
  const node = await aNode(url, name, clock)
  ends.push(() => node.close())
  const anchor = { problem: undefined, acceptLoss: async () => undefined }
  const guard = new BooksGuard({ anchor, isWritable: () => true, buildRefusal: () => undefined })
  const sharedChecks = new SharedChecks({ ...node, checks: node.bookChecks, guard })
  const seen: { verified: number; reported: CheckResult[]; failed: unknown[] } = {
    verified: 0,
    reported: [],
    failed: [],
  }
  const replaced: { verify?: Ledger['verify'] } = {}
  const ports = {
    ledger: {
      verify: (...about: Parameters<Ledger['verify']>) => {
        seen.verified += 1
        return replaced.verify?.(...about) ?? node.ledger.verify(...about)
      },
      verifyRecent: () => {
        seen.verified += 1
        return replaced.verify?.() ?? node.ledger.verifyRecent()
      },
    },
    guard,
    sharedChecks,
    clock: node.clock,
    anchor,
    blobs: { damageOf: async () => undefined },
    auditLog: node.auditLog,
  }
  const report = (result: Verification) => void seen.reported.push(result)
  const onFailed = (error: unknown) => void seen.failed.push(error)
  const begin = () => {
    const stop = checkBooksRegularly({ ...ports, report, onFailed, onFullFailed: onFailed }, HOUR)
    ends.push(stop)
    return stop
  }
  return { node, guard, sharedChecks, ports, seen, replaced, begin }
}

type Gateway = Awaited<ReturnType<typeof aGateway>>

/** Begins the regular checks, and resolves when it waits for its next one. */
async function settled({ begin }: Pick<Gateway, 'begin'>, clock: FakeClock, waitMs: number) {
  const before = clock.waitingFor(waitMs)
  begin()
  await until('it waits', () => clock.waitingFor(waitMs) > before)
}

const CANNOT_RUN = async () => {
  throw new Error('malformed')
}

const SOUND: Verification = { problems: [], entries: 4, affected: [] }
const RECENT: Verification = { ...SOUND, isRecent: true }

/** A check whose result cannot be stored. */
async function withoutStoredChecks(sql: SQL, verify: Ledger['verify']): Promise<Verification> {
  const found = await verify()
  await sql`ALTER TABLE book_checks RENAME TO missing`
  return found
}

const WRONG_COMMIT: Problem = {
  id: 'commit-1',
  accountId: null,
  entryId: null,
  message: 'A commit is wrong.',
  isAccepted: false,
}

describe.skipIf(server === undefined)('the checks of two gateways on one database', () => {
  test('of two gateways that start at once, one checks, and the other has its result after a poll', async () => {
    const { one, two, poll } = await setUp()
    const adopted: number[] = []
    one.sharedChecks.onAdopted(({ entries }) => void adopted.push(entries))
    two.sharedChecks.onAdopted(({ entries }) => void adopted.push(entries))

    one.begin()
    two.begin()
    await until('one has checked', () => one.seen.reported.length + two.seen.reported.length === 1)
    await poll()
    await until('both know', () => one.guard.lastCheck !== undefined && two.guard.lastCheck !== undefined)

    expect(one.seen.verified + two.seen.verified).toBe(1)
    expect(one.guard.lastCheck).toEqual(two.guard.lastCheck)
    expect(adopted).toEqual([[...one.seen.reported, ...two.seen.reported][0]!.entries])
  })

  test('a problem that one finds stops the account on both, until an operator of the other one accepts it', async () => {
    const { clock, one, two, ada, edit, poll, refused } = await setUp()
    await edit()

    await settled(one, clock, HOUR)
    await poll()
    await until('the other one knows', () => two.guard.stoppedAccounts === 1)
    const stopped = refused()
    const { id } = one.seen.reported[0]!.problems[0]!
    await acceptProblem({ id, reason: 'a test edit', actor: 'admin' }, two.ports)
    await new OperatorChecks(two.ports).check({ isAfterDecision: true })
    await poll()
    await until('the first one knows', () => one.guard.stoppedAccounts === 0)

    expect(stopped).toEqual([[ada], [ada]])
    expect(refused()).toEqual([[], []])
    expect([one.guard.lastCheck?.problems, two.guard.lastCheck?.problems]).toEqual([0, 0])
  })

  test('a problem of all accounts stops both', async () => {
    const { clock, one, two, ada, ben, poll, refused } = await setUp()
    one.replaced.verify = async () => ({ problems: [WRONG_COMMIT], entries: 4, affected: 'everything' })

    await settled(one, clock, HOUR)
    await poll()
    await until('the other one knows', () => two.guard.stop !== undefined)

    expect(refused()).toEqual([
      [ada, ben],
      [ada, ben],
    ])
  })

  test('a gateway whose check was killed holds up the others for a minute', async () => {
    const { clock, start, two } = await setUp()
    // Its clock stands still.
    const killed = await start('killed', fakeClock(clock.now()))
    killed.replaced.verify = () => new Promise(() => undefined)
    killed.begin()
    await until('it checks', () => killed.seen.verified === 1)

    await settled(two, clock, MINUTE)
    const before = [two.seen.verified, two.guard.lastCheck]
    clock.advance(MINUTE)
    await until('the other one has checked', () => two.seen.reported.length === 1)

    expect(before).toEqual([0, undefined])
  })

  test('a check that takes minutes keeps the others from checking', async () => {
    const { clock, sql, one, two, poll } = await setUp()
    const long = Promise.withResolvers<Verification>()
    one.replaced.verify = () => long.promise
    one.begin()
    await until('it checks', () => one.seen.verified === 1)
    const leaseEnd = async () => Number((await sql`SELECT until_ms FROM leases`)[0].until_ms)
    await settled(two, clock, MINUTE)

    for (let renewed = 1; renewed <= 6; renewed += 1) {
      const before = await leaseEnd()
      clock.advance(RENEW_EVERY_MS)
      await until('the lease is renewed', async () => (await leaseEnd()) > before)
      await until('it waits to renew it again', () => clock.waitingFor(RENEW_EVERY_MS) === 1)
      await until('the other one waits', () => clock.waitingFor(MINUTE) === 1)
    }
    const meanwhile = two.seen.verified
    long.resolve({ problems: [], entries: 4, affected: [] })
    await until('it is stored', () => clock.waitingFor(HOUR) === 1)
    await poll()
    await until('the other one knows', () => two.guard.lastCheck !== undefined)

    expect(meanwhile).toBe(0)
    expect(clock.waitingFor(RENEW_EVERY_MS)).toBe(0)
  })

  test('a stored result counts for an hour, and an older one leads to a check', async () => {
    const { clock, one, two } = await setUp()
    await checkBooks(one.ports)
    clock.jump(HOUR - 1)

    await settled(two, clock, 1)
    const before = [two.seen.verified, two.guard.lastCheck?.problems]
    clock.advance(1)
    await until('it has checked', () => two.seen.reported.length === 1)

    expect(before).toEqual([0, 0])
  })

  test('a result counts as old if the clock of the database was set back since by an hour, and is replaced', async () => {
    const { clock, sql, one, two } = await setUp()
    await checkBooks(one.ports)
    await sql`UPDATE book_checks SET begun = begun + ${HOUR}, number = number + ${HOUR}, ended_at_ms = ended_at_ms + ${HOUR}`

    await settled(two, clock, HOUR)

    expect(two.seen.reported).toHaveLength(1)
    expect((await two.node.bookChecks.last())?.endedAtMs).toBe(clock.now())
  })

  test('a check that began before a problem was accepted does not stop the account again', async () => {
    const { clock, one, two, edit, refused } = await setUp()
    await edit()
    const slow = Promise.withResolvers<void>()
    one.replaced.verify = async (...about) => {
      const found = await one.node.ledger.verify(...about)
      await slow.promise
      return found
    }
    one.begin()
    await until('it checks', () => one.seen.verified === 1)

    clock.jump(1)
    const { problems } = await checkBooks(two.ports)
    await acceptProblem({ id: problems[0]!.id, reason: 'a test edit', actor: 'admin' }, two.ports)
    await checkBooks(two.ports)
    await one.sharedChecks.adoptLast()
    slow.resolve()
    await until('it has ended', () => one.seen.reported.length === 1)
    await two.sharedChecks.adoptLast()

    expect(refused()).toEqual([[], []])
    expect((await two.node.bookChecks.last())?.openProblems).toBe(0)
  })

  test('a full check that finds a problem counts, although a later check of recent rows has ended before', async () => {
    const { clock, sql, one, two, ada, refused } = await setUp()
    await checkBooks(one.ports)
    const slow = Promise.withResolvers<void>()
    one.replaced.verify = async (...about) => {
      const found = await one.node.ledger.verify(...about)
      await slow.promise
      return found
    }
    await sql`ALTER TABLE credits DISABLE TRIGGER credits_never_change`
    await sql`UPDATE credits SET note = 'another' WHERE account_id = ${ada}`
    const full = checkBooks(one.ports)
    clock.jump(HOUR)
    await settled(two, clock, HOUR)
    const before = [two.seen.reported[0]?.affected, refused()]

    slow.resolve()
    await full
    await two.sharedChecks.adoptLast()

    expect(before).toEqual([[], [[], []]])
    expect(refused()).toEqual([[ada], [ada]])
  })

  test('checks that cannot run stop the gateway that tried them, until another one could check', async () => {
    const { clock, one, two, poll } = await setUp()
    one.replaced.verify = CANNOT_RUN
    await settled(one, clock, MINUTE)
    for (let failed = 2; failed <= 3; failed += 1) {
      clock.advance(MINUTE)
      await until('it failed again', () => one.seen.failed.length === failed)
    }

    const stops = [one.guard.stop, two.guard.stop]
    await until('the turn is over', async () => (await two.node.leases.take('none', 1)) !== undefined)
    await settled(two, clock, HOUR)
    await poll()
    await until('the first one knows', () => one.guard.stop === undefined)

    expect(stops).toEqual(['The books could not be checked three times in a row.', undefined])
    expect(two.seen.verified).toBe(1)
  })

  test('a problem whose result cannot be stored stops the account on the gateway that found it, and is reported', async () => {
    const { clock, sql, one, ada, edit, refused } = await setUp()
    await edit()
    one.replaced.verify = (...about) => withoutStoredChecks(sql, () => one.node.ledger.verify(...about))

    await settled(one, clock, HOUR)

    expect(one.seen.failed).toEqual([])
    expect(one.seen.reported).toMatchObject([{ affected: [ada], unshared: expect.any(Error) }])
    expect(refused()).toEqual([[ada], []])
  })

  test('recent rows that a gateway checks after a full check that the database lost in a failover count', async () => {
    const { clock, sql, one, two, ada, refused } = await setUp()
    await checkBooks(one.ports)
    const [kept] = await sql`SELECT number, full_number FROM book_checks`
    clock.jump(1)
    await checkBooks(one.ports)
    await sql`UPDATE book_checks SET number = ${kept.number}, full_number = ${kept.full_number}`
    clock.jump(1)

    one.replaced.verify = async () => ({ ...RECENT, affected: [ada] })
    await checkRecentRows(one.ports)
    await two.sharedChecks.adoptLast()

    expect(refused()).toEqual([[ada], [ada]])
    expect(one.guard.lastCheck?.atMs).toBe(clock.now())
  })

  test('a check of recent rows does not hide what a gateway of an earlier version found meanwhile', async () => {
    const { clock, sql, one, two, ada, refused } = await setUp()
    await checkBooks(one.ports)
    const [earlier] = await sql`UPDATE book_checks SET begun = begun + 1 RETURNING begun`
    clock.jump(HOUR)
    one.replaced.verify = async () => {
      await sql`UPDATE book_checks SET number = ${earlier.begun}, accounts = ARRAY[${ada}]::bigint[], open_problems = 1`
      return RECENT
    }

    await checkRecentRows(one.ports)
    await two.sharedChecks.adoptLast()

    expect(refused()).toEqual([[ada], [ada]])
    expect(one.guard.lastCheck?.problems).toBe(1)
  })

  test('what another gateway finds counts after a full check that found nothing and could not be stored', async () => {
    const { clock, sql, one, two, ada, refused } = await setUp()
    await checkBooks(one.ports)
    clock.jump(1)
    one.replaced.verify = () => withoutStoredChecks(sql, () => one.node.ledger.verify())
    const { unshared } = await checkBooks(one.ports)
    await sql`ALTER TABLE missing RENAME TO book_checks`
    clock.jump(1)

    two.replaced.verify = async () => ({ ...RECENT, affected: [ada] })
    await checkRecentRows(two.ports)
    await one.sharedChecks.adoptLast()

    expect(unshared).toBeDefined()
    expect(refused()).toEqual([[ada], [ada]])
  })

  test('a check of recent rows by another gateway does not hide a problem that could not be stored', async () => {
    const { clock, sql, one, two, ada, refused } = await setUp()
    await checkBooks(one.ports)
    clock.jump(1)
    one.replaced.verify = () => withoutStoredChecks(sql, async () => ({ ...SOUND, affected: [ada] }))
    await checkBooks(one.ports)
    await sql`ALTER TABLE missing RENAME TO book_checks`
    clock.jump(1)

    two.replaced.verify = async () => RECENT
    await checkRecentRows(two.ports)
    await one.sharedChecks.adoptLast()

    expect(refused()).toEqual([[ada], []])
  })

  test('a gateway that stops gives the turn back', async () => {
    const { one, two } = await setUp()
    one.replaced.verify = () => new Promise(() => undefined)
    const stop = one.begin()
    await until('it checks', () => one.seen.verified === 1)

    stop()
    await one.sharedChecks.endTurn()

    expect(await two.sharedChecks.takeTurn()).toBe(true)
    await two.sharedChecks.endTurn()
  })
})
