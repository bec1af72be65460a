import { afterEach, describe, expect, test } from 'bun:test'
import { limitsConform } from '../../../../test/conformance/limits.ts'
import { aCharge, anId, NOW } from '../../../../test/support/ledger-builders.ts'
import { aKeyIn, anAccountIn, problemsOf } from '../../../../test/support/postgres/books.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { conformsOnPostgres, databases } from '../../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import type { LimitsPatch } from '../../../domain/limits/limits-row.ts'
import { usd, ZERO } from '../../../domain/money.ts'
import type { NewEvent } from '../../../domain/webhooks/event.ts'
import type { LimitOwner } from '../../../gateway/ports/ledger/limits.ts'
import { limitChanges } from '../../books/access/limit-changes.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import { BudgetAlerts } from '../../books/events/budget-alerts.ts'
import { Events } from '../../books/events/events.ts'
import { afterCommit } from '../../books/steps.ts'
import { Batches } from '../lanes/batches.ts'
import { createStepRunner } from '../lanes/step-runner.ts'
import { LANE_TTL_MS } from '../lanes/lane.ts'
import { limitUsage } from './limit-usage.ts'
import { PostgresLimits } from './limits.ts'
import { storedReceivers } from '../receivers.ts'
import { Tariffs } from '../ledger/tariffs.ts'
import { TextHolds } from '../ledger/text-holds.ts'
import { tellAlerts, tellRefusal } from './untold-alerts.ts'

const server = await runServer()
const ends: (() => unknown)[] = []
const DAY_MS = 86_400_000

/** Two nodes over an account with 1000 dollars and one key, and the clock of the database. */
async function setUp() {
  const { openReads, connect } = (await databases.take()).connections
  const reads = openReads()
  const clock = { nowMs: NOW }
  const nowMs = () => clock.nowMs
  const nodeClock = { now: nowMs }
  ends.push(() => reads.close())
  const open = async (label: string) => {
    const batches = await Batches.open({ connect, label, version: '1', nowMs })
    ends.unshift(() => batches.close())
    const stepRunner = createStepRunner({ batches, reads })
    const holds = new TextHolds({ batches, reads, tariffs: new Tariffs(stepRunner), nowMs })
    const events = new Events(storedReceivers)
    return {
      batches,
      stepRunner,
      holds,
      limits: new PostgresLimits({ stepRunner, reads, events, clock: nodeClock, nowMs }),
    }
  }
  const [one, other] = [await open('one'), await open('other')]
  const accountId = await anAccountIn(reads, usd('1000'))
  const apiKeyId = await aKeyIn(reads, accountId)
  const ofKey = { accountId, apiKeyId }
  const aRequest = ({
    dollars = '1',
    tokens = 0,
    key = apiKeyId,
    held = dollars,
  }: { dollars?: string; tokens?: number; key?: number; held?: string } = {}): TextHoldTerms => {
    const demand = { apiKeyId: key, model: 'gpt-x', tokens, amount: usd(dollars) }
    return { id: anId(), accountId, kind: 'text', amount: usd(held), demand }
  }
  const change = (patch: LimitsPatch, owner: LimitOwner = ofKey) =>
    one.stepRunner.write('access', () =>
      limitChanges(limitUsage(nowMs))(owner, patch, { action: 'key.limits', subject: 'key_1' }),
    )
  const charge = (hold: TextHoldTerms, dollars = 1, atMs = clock.nowMs) =>
    one.holds.capture(hold, aCharge(hold.demand!.apiKeyId, { tokens: dollars, atMs }))
  const events = async () => {
    const told: NewEvent[] = []
    await one.stepRunner.write('events', () => tellAlerts(event => afterCommit(() => told.push(event))))
    return told
  }
  return { reads, clock, one, other, accountId, ofKey, aRequest, change, charge, events }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await databases.giveBack()
})

describe.skipIf(server === undefined)('limits in PostgreSQL', () => {
  test('of 60 requests on two nodes, those that fit into a budget are admitted, and the next one names it', async () => {
    const { reads, one, other, ofKey, aRequest, change, charge } = await setUp()
    await change({ budgets: { month: usd('10') } })

    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => [one, other][index % 2]!.holds.place(aRequest())),
    )

    const held = outcomes.filter(outcome => outcome.outcome === 'held')
    expect(held).toHaveLength(10)
    expect(outcomes.find(({ outcome }) => outcome === 'limited')).toMatchObject({
      refusal: {
        limit: 'budget',
        period: 'month',
        allowed: usd('10'),
        scope: { kind: 'key' },
        isReserved: true,
      },
    })
    for (const { hold } of held) await charge(hold)
    const [status] = await other.limits.budgets(ofKey)
    expect(status).toMatchObject({ spent: usd('10'), reserved: ZERO, remaining: ZERO })
    await Promise.all([one.batches.close(), other.batches.close()])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a slot is free again after a charge, a release, an expiry and the close of a node in PostgreSQL', async () => {
    const { clock, one, other, aRequest, change, charge } = await setUp()
    await change({ limits: { concurrent_requests: 1 } })
    const place = (hold: TextHoldTerms) => one.holds.place(hold)
    const [charged, released, expired, last] = [aRequest(), aRequest(), aRequest(), aRequest()]

    const outcomes = [await place(charged), await place(aRequest())]
    await charge(charged)
    outcomes.push(await place(released), await place(aRequest()))
    await one.holds.release(released)
    outcomes.push(await place(expired), await place(aRequest()))
    clock.nowMs += LANE_TTL_MS
    await other.holds.expire([expired], clock.nowMs)
    outcomes.push(await place(last), await place(aRequest()))
    await one.batches.close()
    outcomes.push(await other.holds.place(aRequest()))

    const names = outcomes.map(({ outcome }) => outcome)
    expect(names).toEqual([
      'held',
      'limited',
      'held',
      'limited',
      'held',
      'limited',
      'held',
      'limited',
      'held',
    ])
  })

  test('requests and reads of two nodes share the requests of a minute, and a refusal is kept for its wait', async () => {
    const { clock, one, other, ofKey, aRequest, change } = await setUp()
    await change({ limits: { requests_per_minute: 2 } })

    const first = await one.holds.place(aRequest())
    const read = await other.limits.countRead(ofKey)
    const refused = await other.limits.countRead(ofKey)
    clock.nowMs += 10_000
    const recent = other.limits.recentRefusal(ofKey)
    clock.nowMs += 20_000

    expect(first).toMatchObject({ outcome: 'held', rates: { requests: { limit: 2, remaining: 1 } } })
    expect(read).toMatchObject({ outcome: 'taken', rates: { requests: { remaining: 0 } } })
    expect(refused).toMatchObject({ refusal: { limit: 'requests_per_minute', waitMs: 30_000 } })
    expect(recent).toMatchObject({ refusal: { waitMs: 20_000 }, rates: { requests: { remaining: 0 } } })
    expect(other.limits.recentRefusal(ofKey)).toBeUndefined()
    expect(await other.limits.countRead(ofKey)).toMatchObject({ outcome: 'taken' })
  })

  test('in check mode, a budget in PostgreSQL reserves the worst case, which the balance does not hold', async () => {
    const { one, ofKey, aRequest, change } = await setUp()
    await change({ budgets: { day: usd('4') } })

    const outcomes = [
      await one.holds.place(aRequest({ dollars: '3', held: '0' })),
      await one.holds.place(aRequest({ dollars: '2', held: '0' })),
    ]

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'limited'])
    expect(await one.limits.budgets(ofKey)).toMatchObject([{ reserved: usd('3'), remaining: usd('1') }])
  })

  test('a budget that begins in mid-period counts the charges of the keys of a project, and what is open', async () => {
    const { reads, one, accountId, aRequest, change, charge } = await setUp()
    const [project] = await reads<{ id: bigint }[]>`
      INSERT INTO projects (public_id, account_id, name, created_at_ms, commit_id)
        VALUES ('proj_1', ${accountId}, 'one', 0, 0) RETURNING id`
    const projectId = Number(project!.id)
    const key = await aKeyIn(reads, accountId, projectId)
    const [charged, open, foreign] = [aRequest({ key }), aRequest({ key }), aRequest()]
    for (const hold of [charged, open, foreign]) await one.holds.place(hold)
    await charge(charged)
    await charge(foreign)

    const ofProject = { accountId, apiKeyId: undefined, projectId }
    const lines = await change({ budgets: { week: usd('2') } }, ofProject)
    const refused = await one.holds.place(aRequest({ key, dollars: '0.5' }))
    await one.holds.release(open)

    expect(lines).toEqual([{ action: 'key.limits', subject: 'key_1', detail: '{"budgets":{"week":"2"}}' }])
    expect(refused).toMatchObject({ refusal: { scope: { kind: 'project', id: projectId }, spent: usd('1') } })
    expect(await one.limits.budgets(ofProject)).toMatchObject([{ spent: usd('1'), reserved: ZERO }])
    expect((await one.holds.place(aRequest({ key, dollars: '1' }))).outcome).toBe('held')
  })

  test('a charge of a node with another clock counts in the period of the database', async () => {
    const { clock, one, ofKey, aRequest, change, charge } = await setUp()
    await change({ budgets: { day: usd('9') } })
    const [ahead, behind] = [aRequest(), aRequest()]
    await one.holds.place(ahead)
    await one.holds.place(behind)

    await charge(ahead, 1, clock.nowMs + DAY_MS)
    const today = await one.limits.budgets(ofKey)
    clock.nowMs += DAY_MS
    await charge(behind, 2, clock.nowMs - DAY_MS)

    expect(today).toMatchObject([{ spent: usd('1') }])
    expect(await one.limits.budgets(ofKey)).toMatchObject([{ spent: usd('2') }])
  })

  test('limits that are removed leave no row, and an account without limits is not counted', async () => {
    const { reads, one, ofKey, aRequest, change } = await setUp()
    await change({
      limits: { concurrent_requests: 1 },
      perModel: { 'gpt-x': { limits: { tokens_per_minute: 5 } } },
    })
    await one.holds.place(aRequest())

    await change({ limits: null, perModel: null })

    expect(await reads`SELECT * FROM limits`).toHaveLength(0)
    expect(await one.holds.place(aRequest())).not.toHaveProperty('rates')
    expect(await one.limits.countRead(ofKey)).toEqual({ outcome: 'taken', rates: {} })
    expect(await one.limits.of(ofKey)).toEqual({ limits: {}, budgets: {}, perModel: {} })
  })

  test('the limits of a closed account in PostgreSQL cannot be changed', async () => {
    const { reads, accountId, change } = await setUp()
    await reads`UPDATE accounts SET closed_at_ms = 1 WHERE id = ${accountId}`

    const error = await rejection(change({ budgets: { day: usd('1') } }))

    expect(error).toMatchObject({ code: 'already_closed' })
  })
})

describe.skipIf(server === undefined)('alerts of batches in PostgreSQL', () => {
  test('a budget in PostgreSQL is told once when 80 % are spent, and once when it is reached', async () => {
    const { one, other, aRequest, change, charge, events } = await setUp()
    await change({ budgets: { day: usd('10') } })
    const spend = async (dollars: number) => {
      const hold = aRequest({ dollars: '0' })
      await one.holds.place(hold)
      await charge(hold, dollars)
      return (await events()).map(({ type, data }) => [type, data['spent_usd']])
    }

    const told = [await spend(7), await spend(1), await spend(1), await spend(3), await spend(1)]

    expect(told).toEqual([[], [['budget.nearly_spent', '8']], [], [['budget.reached', '12']], []])
    expect(other.batches.isWritable).toBe(true)
  })

  test('the first refusal of a budget is told once in a period, also if a charge reaches it later', async () => {
    const { clock, one, accountId, aRequest, change, charge, events } = await setUp()
    await change({ budgets: { day: usd('1') } })
    const refuse = async () => {
      const refused = await one.holds.place(aRequest({ dollars: '2' }))
      if (refused.outcome !== 'limited') throw new Error('It was not refused.')
      const alerts = new BudgetAlerts(new Events(storedReceivers))
      const { refusal } = refused
      return one.stepRunner.write('books', () => tellRefusal({ accountId, refusal }, alerts, clock.nowMs))
    }

    const noted = [await refuse(), await refuse()]
    const hold = aRequest()
    await one.holds.place(hold)
    await charge(hold)

    expect(noted).toEqual([true, false])
    expect((await events()).map(({ type }) => type)).toEqual(['budget.nearly_spent'])
  })

  test('a balance that falls below its alert in a batch is told once', async () => {
    const { reads, one, accountId, aRequest, charge, events } = await setUp()
    await reads`INSERT INTO balance_alerts (account_id, below, is_low) VALUES (${accountId}, ${usd('999')}, 0)`
    const spend = async () => {
      const hold = aRequest()
      await one.holds.place(hold)
      await charge(hold)
      return events()
    }

    const told = [await spend(), await spend(), await spend()]

    const data = { balance_usd: '998', alert_below_usd: '999' }
    expect(told).toEqual([[], [{ type: 'balance.low', accountId, data, atMs: NOW }], []])
  })
})

conformsOnPostgres(limitsConform)
