import { describe, expect, test } from 'bun:test'
import { decodeLimitsPatch, type LimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import type { Hold, HoldOutcome } from '../../src/gateway/ports/ledger/ledger.ts'
import { until } from '../../src/http1/testing/until.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aJob } from '../support/job-builders.ts'
import {
  aBill,
  aCharge,
  aHold,
  anAccount,
  anAttempt,
  anAudit,
  changeLimits,
  NOW,
} from '../support/ledger-builders.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

/** A change in the format of the admin API. */
function aPatch(body: unknown): LimitsPatch {
  const decoded = decodeLimitsPatch(body)
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}

/** An account with 1000 USD, and requests of its key. */
async function openLimited(kind: StoreKind) {
  const clock = fakeClock(NOW)
  const opened = await kind.open({ clock })
  const payer = await anAccount(opened.store, { funds: usd('1000') })
  const { accountId, apiKeyId } = payer
  const request = (
    { amount = usd('1'), tokens = 0, key = apiKeyId, model = 'gpt-x' }: Partial<Asked> = {},
    store: TestStore = opened.store,
  ) =>
    store.ledger.placeHold(
      aHold({ accountId, kind: 'text', amount, demand: { apiKeyId: key, model, tokens, amount } }),
    )
  const ofKey = { accountId, apiKeyId }
  const change = (body: unknown, of: { accountId: number; apiKeyId: number | undefined } = ofKey) =>
    changeLimits(opened.store, of, aPatch(body))
  const charge = (hold: Hold, tokens = 1, store: TestStore = opened.store) =>
    store.ledger.captureHold(hold, aCharge(apiKeyId, { tokens, atMs: clock.now() }))
  const budgets = (store: TestStore = opened.store) => store.limits.budgets(ofKey)
  return {
    ...opened,
    clock,
    payer,
    ofKey,
    ofAccount: { accountId, apiKeyId: undefined },
    request,
    change,
    charge,
    budgets,
  }
}

type Asked = {
  readonly amount: NanoUsd
  readonly tokens: number
  readonly key: number
  readonly model: string
}

function held(outcome: HoldOutcome): Hold {
  if (outcome.outcome !== 'held') throw new Error(`The hold was ${outcome.outcome}.`)
  return outcome.hold
}

/** `held`, `refused`, or the limit that refused. */
function nameOf(outcome: HoldOutcome): string {
  return outcome.outcome === 'limited' ? outcome.refusal.limit : outcome.outcome
}

/** What the limits of any store must do. */
export function limitsConform(kind: StoreKind): void {
  test('the limits of an account, a key and their models are kept, and each is changed alone', async () => {
    const { reopen, change, ofKey, ofAccount } = await openLimited(kind)
    await change({ limits: { requests_per_minute: 60 }, per_model: { 'gpt-x': { budgets: { day: '5' } } } })
    await change({ budgets: { month: '20' } }, ofAccount)

    await change({ limits: { concurrent_requests: 2, requests_per_minute: null } })
    const { limits } = await reopen()

    expect(await limits.of(ofKey)).toEqual({
      limits: { concurrent_requests: 2 },
      budgets: {},
      perModel: { 'gpt-x': { limits: {}, budgets: { day: usd('5') } } },
    })
    expect(await limits.of(ofAccount)).toEqual({ limits: {}, budgets: { month: usd('20') }, perModel: {} })
  })

  test('a model with the name of a member of every object can have limits, and lose them', async () => {
    const { store, change, ofKey } = await openLimited(kind)
    const models = ['constructor', 'toString']

    for (const model of models) await change({ per_model: { [model]: { budgets: { day: '5' } } } })
    const given = await store.limits.of(ofKey)
    for (const model of models) await change({ per_model: { [model]: null } })

    expect(Object.keys(given.perModel).toSorted()).toEqual(models)
    expect(await store.limits.of(ofKey)).toEqual({ limits: {}, budgets: {}, perModel: {} })
  })

  describe('requests of a minute', () => {
    test('requests are refused above the limit of a minute, with the exact wait, until it is over', async () => {
      const { request, change, clock } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 2 } })

      const outcomes = [await request(), await request(), await request()]
      clock.advance(29_999)
      const early = await request()
      clock.advance(1)

      expect(outcomes.map(nameOf)).toEqual(['held', 'held', 'requests_per_minute'])
      expect(outcomes[2]).toMatchObject({ refusal: { waitMs: 30_000, allowed: 2 } })
      expect(early).toMatchObject({ refusal: { waitMs: 1 } })
      expect(nameOf(await request())).toBe('held')
    })

    test('requests that money refuses do not count', async () => {
      const { request, change } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 1 } })

      const poor = await request({ amount: usd('1001') })

      expect(nameOf(poor)).toBe('refused')
      expect(nameOf(await request())).toBe('held')
    })

    test('requests count for every scope of the key, and the strictest is reported', async () => {
      const { request, change, ofAccount } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 10 } }, ofAccount)
      await change({ per_model: { 'gpt-x': { limits: { requests_per_minute: 3 } } } })

      const first = await request()
      const other = await request({ model: 'gpt-y' })

      expect(first).toMatchObject({ rates: { requests: { limit: 3, remaining: 2 } } })
      expect(other).toMatchObject({ rates: { requests: { limit: 10, remaining: 8 } } })
    })

    test('requests are refused without being counted until the wait of an earlier refusal is over', async () => {
      const { store, request, change, clock, ofKey } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 1 } })
      await request()
      const before = store.limits.recentRefusal(ofKey)
      await request()

      clock.advance(59_000)
      const during = store.limits.recentRefusal(ofKey)
      const ofOther = store.limits.recentRefusal({ ...ofKey, apiKeyId: 99 })
      clock.advance(1000)
      const after = store.limits.recentRefusal(ofKey)

      expect([before, ofOther, after]).toEqual([undefined, undefined, undefined])
      expect(during).toMatchObject({ refusal: { limit: 'requests_per_minute', waitMs: 1000 } })
    })

    test('requests are no longer refused when the limit was raised', async () => {
      const { store, request, change, ofKey } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 1 } })
      await request()
      await request()

      await change({ limits: { requests_per_minute: null } })

      expect(store.limits.recentRefusal(ofKey)).toBeUndefined()
    })

    test('requests of another node are refused no more within a second after the limit was raised', async () => {
      const { store, other, request, change, clock, ofKey } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 1 } })
      for (const node of [store, other]) await request({}, node)
      const before = other.limits.recentRefusal(ofKey)

      await change({ limits: { requests_per_minute: 100 } })
      clock.advance(1_000)
      await until('the other node has seen the change', () => {
        return other.limits.recentRefusal(ofKey) === undefined
      })

      expect(before).toBeDefined()
      expect(nameOf(await request({}, other))).toBe('held')
    })

    test('the requests of a minute include reads, which hold nothing', async () => {
      const { store, request, change, ofKey } = await openLimited(kind)
      await change({ limits: { requests_per_minute: 1, concurrent_requests: 1 } })

      const read = await store.limits.countRead(ofKey)
      const again = await store.limits.countRead(ofKey)

      expect([read.outcome, again.outcome]).toEqual(['taken', 'limited'])
      expect(nameOf(await request())).toBe('requests_per_minute')
    })
  })

  test('tokens that a request did not use are given back, and those beyond are a debt', async () => {
    const { request, change, charge } = await openLimited(kind)
    await change({ limits: { tokens_per_minute: 100 } })

    const first = held(await request({ tokens: 90 }))
    const meanwhile = await request({ tokens: 20 })
    await charge(first, 10)
    const second = held(await request({ tokens: 90 }))
    await charge(second, 140)

    expect(meanwhile).toMatchObject({ refusal: { limit: 'tokens_per_minute', waitMs: 6000 } })
    expect(await request({ tokens: 1 })).toMatchObject({ refusal: { waitMs: 30_600 } })
    expect(await request({ tokens: 101 })).toMatchObject({ refusal: { waitMs: undefined } })
  })

  test('tokens of a request whose hold expired are a debt when it is charged', async () => {
    const { store, request, change, charge, clock } = await openLimited(kind)
    await change({ limits: { tokens_per_minute: 100 } })

    const late = held(await request({ tokens: 90 }))
    clock.advance(120_000)
    await store.ledger.expireHolds([late], clock.now())
    const meanwhile = await request({ tokens: 100 })
    await charge(held(meanwhile), 60)
    await charge(late, 80)

    expect(meanwhile.outcome).toBe('held')
    expect(await request({ tokens: 1 })).toMatchObject({ refusal: { waitMs: 24_600 } })
  })

  describe('open requests', () => {
    test('open requests take a slot until they are charged, released or expire', async () => {
      const { store, request, change, charge, clock } = await openLimited(kind)
      await change({ limits: { concurrent_requests: 1 } })
      const full = async () => nameOf(await request())

      const first = held(await request())
      const whileRunning = await full()
      await charge(first)
      const second = held(await request())
      await store.ledger.releaseHold(second, NOW)
      await store.ledger.releaseHold(second, NOW)
      const third = held(await request())
      clock.advance(120_000)
      const expired = await store.ledger.expireHolds([third], clock.now())
      const fourth = held(await request())
      await charge(third)

      expect([whileRunning, expired, await full()]).toEqual(['concurrent_requests', 1, 'concurrent_requests'])
      await charge(fourth)
      expect(await full()).toBe('held')
    })

    test('open requests include jobs until they end, also after a restart', async () => {
      const { store, reopen, request, change, payer, ofKey } = await openLimited(kind)
      await change({ limits: { concurrent_requests: 1 }, budgets: { day: '4' } })

      const created = await store.jobs.create({ ...aJob(payer), held: usd('3') })
      const second = await store.jobs.create({ ...aJob(payer), held: usd('1') })
      const again = await reopen()
      const full = nameOf(await request({}, again))
      const [budget] = await again.limits.budgets(ofKey)
      if (created.outcome === 'created')
        await again.jobs.fail(created.job.id, { reason: 'rejected', message: 'No.', atMs: NOW })

      expect([created.outcome, second.outcome, full]).toEqual(['created', 'limited', 'concurrent_requests'])
      expect(budget).toMatchObject({ reserved: usd('3'), spent: ZERO })
      expect(nameOf(await request({ amount: usd('4') }, again))).toBe('held')
    })
  })

  describe('a budget', () => {
    test('the budgets of an owner for models have their own use, also after a restart', async () => {
      const { store, reopen, request, change, charge, ofKey, ofAccount } = await openLimited(kind)
      await change({
        per_model: { 'gpt-x': { budgets: { day: '5' } }, 'gpt-y': { limits: { requests_per_minute: 9 } } },
      })
      await change({ per_model: { 'gpt-y': { budgets: { total: '7' } } } }, ofAccount)
      await charge(held(await request()), 2)
      await request({ amount: usd('1.5') })
      await request({ model: 'gpt-y' })

      const used = await store.limits.modelBudgets(ofKey)
      const ofAccountUsed = await store.limits.modelBudgets(ofAccount)
      const again = await (await reopen()).limits.modelBudgets(ofKey)

      expect([...used.keys(), ...ofAccountUsed.keys()]).toEqual(['gpt-x', 'gpt-y'])
      expect(used.get('gpt-x')).toMatchObject([
        { period: 'day', spent: usd('2'), reserved: usd('1.5'), remaining: usd('1.5') },
      ])
      expect(ofAccountUsed.get('gpt-y')).toMatchObject([
        { period: 'total', spent: ZERO, reserved: usd('1'), resetsAtMs: undefined },
      ])
      expect(again.get('gpt-x')).toMatchObject([{ spent: usd('2') }])
    })

    test.each(['text', 'media'] as const)(
      'a budget for 10 admits exactly 10 of 200 racing %s requests',
      async holdKind => {
        const { store, request, change, charge, payer, budgets } = await openLimited(kind)
        await change({ budgets: { day: '10' } })
        const text = async (): Promise<string> => {
          const outcome = await request()
          if (outcome.outcome === 'held') await charge(outcome.hold)
          return outcome.outcome
        }
        const media = async (): Promise<string> =>
          (await store.jobs.create({ ...aJob(payer), held: usd('1') })).outcome

        const outcomes = await Promise.all(Array.from({ length: 200 }, holdKind === 'text' ? text : media))

        expect(outcomes.filter(outcome => outcome === 'held' || outcome === 'created')).toHaveLength(10)
        expect(await budgets()).toMatchObject([{ period: 'day', remaining: ZERO }])
      },
    )

    test('a budget is one for the requests of two nodes', async () => {
      const { store, other, request, change } = await openLimited(kind)
      await change({ budgets: { day: '10' } })

      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) => request({}, index % 2 === 0 ? store : other)),
      )

      expect(outcomes.filter(({ outcome }) => outcome === 'held')).toHaveLength(10)
    })

    test('a budget counts what was spent before it was made, and what is open', async () => {
      const { request, change, charge, budgets } = await openLimited(kind)
      await charge(held(await request({ amount: usd('3') })), 3)
      await request({ amount: usd('2') })

      await change({
        budgets: { total: '10', day: '7' },
        per_model: { 'gpt-x': { budgets: { month: '5.5' } } },
      })

      expect(await budgets()).toMatchObject([
        { period: 'day', spent: usd('3'), reserved: usd('2'), remaining: usd('2') },
        { period: 'total', spent: usd('3'), reserved: usd('2'), remaining: usd('5') },
      ])
      expect(await request()).toMatchObject({
        refusal: { limit: 'budget', scope: { kind: 'key_model', model: 'gpt-x' }, remaining: usd('0.5') },
      })
    })

    test('a budget keeps its sums over a restart, and starts anew with its period', async () => {
      const { reopen, request, change, charge, clock } = await openLimited(kind)
      await change({ budgets: { day: '3' } })
      await charge(held(await request({ amount: usd('3') })), 3)

      const again = await reopen()
      const onTheDay = nameOf(await request({}, again))
      clock.advance(86_400_000)

      expect(onTheDay).toBe('budget')
      expect(nameOf(await request({}, again))).toBe('held')
    })

    test('a budget of another key or model is not touched', async () => {
      const { request, change } = await openLimited(kind)
      await change({ budgets: { day: '0' }, per_model: { 'gpt-y': { budgets: { day: '1' } } } })

      expect(nameOf(await request())).toBe('budget')
      expect(nameOf(await request({ key: 99 }))).toBe('held')
    })

    test('a budget is passed only by a shortfall', async () => {
      const { request, change, charge, budgets } = await openLimited(kind)
      await change({ budgets: { day: '2' } })

      await charge(held(await request({ amount: usd('2') })), 5)

      expect(await budgets()).toMatchObject([{ spent: usd('5'), remaining: usd('-3') }])
      expect(await request()).toMatchObject({ refusal: { remaining: ZERO, isReserved: false } })
      expect(nameOf(await request({ amount: ZERO }))).toBe('held')
    })

    test('a budget does not count a compensated charge, and a refund restores nothing', async () => {
      const { store, reopen, request, change, charge, payer, ofKey } = await openLimited(kind)
      await change({ budgets: { day: '9' } })
      const hold = held(await request())
      await charge(hold)
      await store.ledger.refund({
        id: aHold({ accountId: 1, kind: 'text', amount: ZERO }).id,
        charge: hold.id,
        amount: usd('1'),
        audit: anAudit(),
      })
      const attempt = anAttempt(payer)
      await store.attempts.record(attempt)
      await store.attempts.bill(attempt, aBill())
      await store.ledger.compensate(attempt, NOW)

      const [before] = await store.limits.budgets(ofKey)
      const [after] = await (await reopen()).limits.budgets(ofKey)

      expect(before).toMatchObject({ spent: usd('1') })
      expect(after).toMatchObject({ spent: usd('1') })
    })
  })
}
