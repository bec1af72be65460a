import { describe, expect, test } from 'bun:test'
import { decodeLimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { usd, type NanoUsd } from '../../src/domain/money.ts'
import { eventTypes, type EventType } from '../../src/domain/webhooks/event.ts'
import type { Webhook } from '../../src/domain/webhooks/webhook.ts'
import type { HoldOutcome } from '../../src/gateway/ports/ledger.ts'
import { at } from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aJob } from '../support/job-builders.ts'
import { aCharge, aHold, anAccount, anId, changeLimits, NOW } from '../support/ledger-builders.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

const DAY_MS = 86_400_000
/** The start of the day of `NOW`, and that of the next one. */
const TODAY = NOW - (NOW % DAY_MS)
const TOMORROW = TODAY + DAY_MS

function aWebhook({ webhooks }: TestStore): Promise<Webhook> {
  return webhooks.create({
    publicId: `whk_${anId().key}`,
    accountId: undefined,
    url: 'https://example.com/hook',
    events: Object.keys(eventTypes) as EventType[],
    note: '',
    secret: 'whsec_AAAA',
    by: at(NOW),
  })
}

/** What a webhook was told of, oldest first: the type and the data of each event but those of credits. */
async function toldTo({ webhookQueue }: TestStore, webhook: Webhook) {
  const told: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[] = []
  for (;;) {
    const due = await webhookQueue.next(webhook.id, NOW * 2)
    if (due === undefined) break
    told.push(JSON.parse(due.body))
    await webhookQueue.record(due, { atMs: NOW, durationMs: 1, status: 200, problem: null })
  }
  return told.filter(({ type }) => type !== 'balance.topped_up')
}

/** An account with 1000 USD and a webhook, and requests of its key. */
async function openTold(kind: StoreKind) {
  const clock = fakeClock(NOW)
  const opened = await kind.open({ clock })
  const payer = await anAccount(opened.store, { funds: usd('1000') })
  const { accountId, apiKeyId } = payer
  const webhook = await aWebhook(opened.store)
  const place = (amount: NanoUsd, store = opened.store): Promise<HoldOutcome> =>
    store.ledger.placeHold(
      aHold({ accountId, kind: 'text', amount, demand: { apiKeyId, model: 'gpt-x', tokens: 0, amount } }),
    )
  const spend = async (dollars: number, store = opened.store) => {
    const outcome = await place(usd('0'), store)
    if (outcome.outcome !== 'held') throw new Error(`The hold was ${outcome.outcome}.`)
    await store.ledger.captureHold(outcome.hold, aCharge(apiKeyId, { tokens: dollars, atMs: clock.now() }))
  }
  const limit = (body: object, of: { readonly apiKeyId: number | undefined } = payer) => {
    const decoded = decodeLimitsPatch(body)
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
    return changeLimits(opened.store, { accountId, ...of }, decoded.value)
  }
  const told = (store = opened.store) => toldTo(store, webhook)
  const types = async (store = opened.store) => (await told(store)).map(({ type }) => type)
  return { ...opened, clock, payer, webhook, place, spend, limit, told, types }
}

/** The events that any store records where they happen. */
export function eventsConform(kind: StoreKind): void {
  describe('the events of a budget', () => {
    test('80 % and 100 % of a budget are told once each, and again in the next period', async () => {
      const { clock, spend, limit, types } = await openTold(kind)
      await limit({ budgets: { day: '10' } })
      const told: string[][] = []

      for (const dollars of [7, 1, 1, 1, 1]) {
        await spend(dollars)
        told.push(await types())
      }
      clock.setWallClock(TOMORROW)
      await spend(8)
      told.push(await types())

      expect(told).toEqual([[], ['budget.nearly_spent'], [], ['budget.reached'], [], ['budget.nearly_spent']])
    })

    test('a charge that spends a whole budget tells of both, with the figures of the budget', async () => {
      const { store, payer, spend, limit, told } = await openTold(kind)
      const [key] = await store.apiKeys.list(payer.accountId)
      await limit({ budgets: { day: '10' }, per_model: { 'gpt-x': { budgets: { total: '12' } } } })

      await spend(12)

      const ofDay = {
        scope: 'key',
        key: { id: key!.publicId, name: 'default' },
        project: null,
        model: null,
        period: 'day',
        budget_usd: '10',
        spent_usd: '12',
        resets_at: new Date(TOMORROW).toISOString(),
      }
      const ofModel = {
        ...ofDay,
        scope: 'key_model',
        model: 'gpt-x',
        period: 'total',
        budget_usd: '12',
        resets_at: null,
      }
      expect(await told()).toMatchObject([
        { type: 'budget.nearly_spent', data: ofDay },
        { type: 'budget.reached', data: ofDay },
        { type: 'budget.nearly_spent', data: ofModel },
        { type: 'budget.reached', data: ofModel },
      ])
    })

    test('the first refusal of a period is told once, also in a flood of refusals', async () => {
      const { place, spend, limit, told } = await openTold(kind)
      await limit({ budgets: { day: '10' } }, { apiKeyId: undefined })
      await spend(6)

      const outcomes = await Promise.all(Array.from({ length: 50 }, () => place(usd('5'))))

      expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['limited']))
      expect(await told()).toMatchObject([
        { type: 'budget.reached', data: { scope: 'account', key: null, budget_usd: '10', spent_usd: '6' } },
      ])
    })

    test('a refusal that lasts until running requests have ended is not told', async () => {
      const { place, limit, types } = await openTold(kind)
      await limit({ budgets: { day: '10' } })
      await place(usd('8'))

      expect(await place(usd('5'))).toMatchObject({ outcome: 'limited', refusal: { isReserved: true } })
      expect(await types()).toEqual([])
    })

    test('the refusal of a job is told', async () => {
      const { store, payer, limit, types } = await openTold(kind)
      await limit({ budgets: { month: '1' } })

      expect(await store.jobs.create(aJob(payer))).toMatchObject({ outcome: 'limited' })
      expect(await types()).toEqual(['budget.reached'])
    })

    test('what was told of a period is not told again after a restart, and a changed budget is', async () => {
      const { reopen, payer, spend, limit, types } = await openTold(kind)
      await limit({ budgets: { day: '10' } })
      await spend(8)
      const before = await types()

      const again = await reopen()
      await spend(1, again)
      const after = await types(again)
      const decoded = decodeLimitsPatch({ budgets: { day: '11' } })
      if (decoded.ok) await changeLimits(again, payer, decoded.value)
      await spend(1, again)

      expect([before, after, await types(again)]).toEqual([
        ['budget.nearly_spent'],
        [],
        ['budget.nearly_spent'],
      ])
    })

    test('a charge that cannot be recorded tells nothing, and its repeat does', async () => {
      const { store, payer, place, limit, types } = await openTold(kind)
      await limit({ budgets: { day: '10' } })
      const outcome = await place(usd('0'))
      if (outcome.outcome !== 'held') throw new Error('The hold was refused.')
      const charge = aCharge(payer.apiKeyId, { tokens: 8 })
      // The database refuses the row of a charge without a model, after its cost was counted.
      const broken = { ...charge, model: null as unknown as string }

      const failed = await store.ledger.captureHold(outcome.hold, broken).catch(() => 'failed')
      const between = await types()
      await store.ledger.captureHold(outcome.hold, charge)

      expect([failed, between, await types()]).toEqual(['failed', [], ['budget.nearly_spent']])
    })
  })
}
