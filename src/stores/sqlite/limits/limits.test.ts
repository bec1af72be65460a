import { describe, expect, test } from 'bun:test'
import { limitsConform } from '../../../../test/conformance/limits.ts'
import { aJob } from '../../../../test/support/job-builders.ts'
import {
  aCharge,
  aHold,
  anAccount,
  anAudit,
  changeLimits,
  NOW,
} from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { aSqliteStore, sqlite, type TestSqlite } from '../../../../test/support/test-store.ts'
import { NO_LIMITS } from '../../../domain/limits/limits-row.ts'
import { usd, ZERO } from '../../../domain/money.ts'

describe('sqlite limits', () => limitsConform(sqlite))

test('a patch with a budget changes nothing while an upgrade still adds up earlier charges', async () => {
  const { accounts, auditLog, database, limits } = aSqliteStore()
  const { id, publicId } = await accounts.createAccount({
    publicId: 'acct_1',
    name: 'ada',
    sandboxOnly: false,
    audit: anAudit(),
  })
  const patch = { replays: false, limits: { budgets: { day: usd('10') } } }
  const update = () => accounts.updateAccount(publicId, patch, { actor: 'admin', atMs: NOW })
  database.run('UPDATE usage_rebuild SET charges_to = 5')

  const error = await rejection(update())

  expect(error).toMatchObject({ code: 'unavailable', extras: { retryAfter: '30' } })
  expect((error as Error).message).toContain('Try again then.')
  expect((await accounts.findAccount(publicId))?.replays).toBeUndefined()
  expect(await limits.of({ accountId: id, apiKeyId: undefined })).toEqual(NO_LIMITS)
  expect(await auditLog.list({ limit: 9 })).toHaveLength(1)
  database.run('UPDATE usage_rebuild SET charges_to = 0')
  expect(await update()).toMatchObject({ replays: false })
})

describe('a check of the budgets in memory', () => {
  test('a budget whose count in memory is wrong is reported once, stops nothing, and is corrected', async () => {
    const store = aSqliteStore()
    const payer = await anAccount(store, { funds: usd('100') })
    const { apiKeyId } = payer
    await spend(store, payer, 3)
    // The limits are first read while the sums on disk are wrong.
    store.database.run('UPDATE usage_days SET cost = cost - 2000000000')
    const budgets = { day: usd('10') }
    await changeLimits(store, payer, { budgets, perModel: { 'gpt-x': { budgets } } })
    const before = await store.limits.budgets(payer)
    store.database.run('UPDATE usage_days SET cost = cost + 2000000000')

    const { problems, affected } = await store.ledger.verify()
    const again = await store.ledger.verify()

    const key = (await store.apiKeys.list(payer.accountId)).find(({ id }) => id === apiKeyId)!.publicId
    expect(before[0]).toMatchObject({ spent: usd('1') })
    expect(problems).toMatchObject([
      {
        accountId: payer.accountId,
        stopsNothing: true,
        message: expect.stringContaining(
          `its day budget of ${key} counted 1.00 USD, but the charges are 3.00 USD.`,
        ),
      },
      {
        message: expect.stringContaining(`its day budget of ${key} for model "gpt-x" counted 1.00 USD`),
      },
    ])
    expect(affected).toEqual([])
    expect(again.problems).toEqual([])
    expect((await store.limits.budgets(payer))[0]).toMatchObject({ spent: usd('3'), remaining: usd('7') })
  })

  test('slots and reserves that leaked are reported once, stop nothing, and are free for waiting requests', async () => {
    const store = aSqliteStore()
    const payer = await anAccount(store, { funds: usd('100') })
    const { accountId, apiKeyId } = payer
    const created = await store.jobs.create({ ...aJob(payer), held: usd('4') })
    if (created.outcome !== 'created') throw new Error('The job was refused.')
    const { id } = created.job
    const terms = { limits: { concurrent_requests: 1 }, budgets: { day: usd('10') } }
    await changeLimits(store, payer, { ...terms, perModel: { [created.job.model]: terms } })
    // The job ends, and its limits are not told, as if a step forgot to give back what it took.
    store.database.run(
      "UPDATE holds SET state = 'released', resolved_at_ms = placed_at_ms WHERE id_key = ?",
      [id.key],
    )
    const request = () => {
      const amount = usd('1')
      const demand = { apiKeyId, model: 'gpt-y', tokens: 0, amount }
      return store.ledger.placeHold(aHold({ accountId, kind: 'text', amount, demand }))
    }
    const before = (await request()).outcome
    const freed: number[] = []
    store.ledger.onFreed(account => freed.push(account))

    const { problems } = await store.ledger.verify()
    const leaks = problems.filter(({ stopsNothing }) => stopsNothing)
    const again = (await store.ledger.verify()).problems.filter(({ stopsNothing }) => stopsNothing)

    const key = (await store.apiKeys.list(accountId)).find(one => one.id === apiKeyId)!.publicId
    const of = [`of ${key}`, `of ${key} for model "${created.job.model}"`]
    expect(before).toBe('limited')
    expect(leaks.map(({ message }) => message)).toEqual(
      of.flatMap(whose => [
        expect.stringContaining(`its count of open requests and jobs ${whose} is 1, but 0 are open.`),
        expect.stringContaining(
          `its reserve for media ${whose} counted 4.00 USD, but the open holds are 0.00 USD.`,
        ),
      ]),
    )
    expect(again).toEqual([])
    expect(freed).toEqual([accountId])
    expect((await request()).outcome).toBe('held')
  })

  test('what is charged while the clock is set back is no problem, and stays counted', async () => {
    const store = aSqliteStore()
    const payer = await anAccount(store, { funds: usd('100') })
    await changeLimits(store, payer, { budgets: { day: usd('10') } })
    await spend(store, payer, 3)
    await spend(store, payer, 2, NOW - 2 * 86_400_000)

    const { problems } = await store.ledger.verify()
    await changeLimits(store, payer, { budgets: { day: usd('20') } })

    expect(problems).toEqual([])
    expect((await store.limits.budgets(payer))[0]).toMatchObject({ spent: usd('5') })
  })

  async function spend(
    store: TestSqlite,
    payer: { accountId: number; apiKeyId: number },
    dollars: number,
    atMs = NOW,
  ) {
    const amount = usd('4')
    const demand = { apiKeyId: payer.apiKeyId, model: 'gpt-x', tokens: 0, amount }
    const outcome = await store.ledger.placeHold(aHold({ ...payer, kind: 'text', amount, demand }))
    if (outcome.outcome !== 'held') throw new Error('The hold was refused.')
    await store.ledger.captureHold(outcome.hold, aCharge(payer.apiKeyId, { tokens: dollars, atMs }))
  }
})

describe('a commit that fails', () => {
  /** A key with one slot and a budget of 10 USD, on a disk that can be full. */
  async function aLimitedKey() {
    const store = aSqliteStore()
    const payer = await anAccount(store, { funds: usd('100') })
    await changeLimits(store, payer, { limits: { concurrent_requests: 1 }, budgets: { day: usd('10') } })
    const disk = { isFull: false }
    store.transactions.join({
      beforeCommit() {
        if (disk.isFull) throw new Error('The disk is full.')
      },
    })
    return { store, payer, disk, budget: async () => (await store.limits.budgets(payer))[0] }
  }

  test('a commit that fails leaves a request with its slot and its reserve, and its repeat gives both back', async () => {
    const { store, payer, disk, budget } = await aLimitedKey()
    const amount = usd('4')
    const demand = { apiKeyId: payer.apiKeyId, model: 'gpt-x', tokens: 0, amount }
    const request = () => store.ledger.placeHold(aHold({ ...payer, kind: 'text', amount, demand }))
    const outcome = await request()
    if (outcome.outcome !== 'held') throw new Error('The hold was refused.')
    const capture = () => store.ledger.captureHold(outcome.hold, aCharge(payer.apiKeyId, { tokens: 3 }))

    disk.isFull = true
    await rejection(capture())
    const after = [await budget(), (await request()).outcome]
    disk.isFull = false
    await capture()

    expect(after).toMatchObject([{ spent: ZERO, reserved: usd('4') }, 'limited'])
    expect(await budget()).toMatchObject({ spent: usd('3'), reserved: ZERO })
    expect((await request()).outcome).toBe('held')
  })

  test('a commit that fails creates no job, and takes nothing', async () => {
    const { store, payer, disk, budget } = await aLimitedKey()
    const create = () => store.jobs.create({ ...aJob(payer), held: usd('4') })

    disk.isFull = true
    await rejection(create())
    const after = await budget()
    disk.isFull = false

    expect(after).toMatchObject({ spent: ZERO, reserved: ZERO })
    expect((await create()).outcome).toBe('created')
    expect(await budget()).toMatchObject({ reserved: usd('4') })
  })
})
