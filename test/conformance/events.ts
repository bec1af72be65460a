import { describe, expect, test } from 'bun:test'
import { decodeLimitsPatch } from '../../src/domain/limits/limits-row.ts'
import { usd, type NanoUsd } from '../../src/domain/money.ts'
import { eventTypes, type EventType } from '../../src/domain/webhooks/event.ts'
import type { Webhook } from '../../src/domain/webhooks/webhook.ts'
import type { HoldOutcome } from '../../src/gateway/ports/ledger/ledger.ts'
import { aKey, at, make, REVOKED } from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aFailure, aJob, aResult, aVideoJob, jobIn } from '../support/job-builders.ts'
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
async function toldTo({ ledger, webhookQueue }: TestStore, webhook: Webhook) {
  // A store may write the events of charges in a step after them, and does it here at the latest.
  await ledger.renewHolds()
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

    test('a charge is told once if its transaction is rolled back because of another step, and repeated', async () => {
      const { store, payer, place, limit, types } = await openTold(kind)
      await limit({ budgets: { day: '10' } })
      const { name } = (await store.accounts.findAccountById(payer.accountId))!
      const outcome = await place(usd('0'))
      if (outcome.outcome !== 'held') throw new Error('The hold was refused.')

      const [charged, refused] = await Promise.allSettled([
        store.ledger.captureHold(outcome.hold, aCharge(payer.apiKeyId, { tokens: 8 })),
        make(store.accounts, name),
      ])

      expect([charged.status, refused.status]).toEqual(['fulfilled', 'rejected'])
      expect(await types()).toEqual(['budget.nearly_spent'])
    })
  })

  describe('the event of a job', () => {
    test('a job that ends is told with its cost or its failure, once, if its account asked for it', async () => {
      const { store, payer, told } = await openTold(kind)
      const { publicId, name } = (await store.accounts.findAccountById(payer.accountId))!
      const account = await store.accounts.updateAccount(publicId, { jobEvents: true }, at(NOW))
      const image = await jobIn('processing', store.jobs, aJob(payer))
      const video = await jobIn('processing', store.jobs, aVideoJob(payer))
      await jobIn('processing', store.jobs, aJob(payer))

      for (let repeat = 0; repeat < 2; repeat += 1) {
        await store.jobs.complete(image.id, aResult())
        await store.jobs.fail(video.id, aFailure)
      }

      expect(account.jobEvents).toBe(true)
      const data = {
        account: { id: publicId, name },
        model: 'draw-1',
        created_at: new Date(NOW).toISOString(),
      }
      const error = { message: aFailure.message, code: 'NSFW' }
      expect(await told()).toEqual([
        expect.objectContaining({
          type: 'job.finished',
          data: {
            ...data,
            job: expect.stringMatching(/^img_/),
            status: 'completed',
            cost_usd: '3',
            error: null,
          },
        }),
        expect.objectContaining({
          type: 'job.finished',
          data: { ...data, job: expect.stringMatching(/^vid_/), status: 'failed', cost_usd: '0', error },
        }),
      ])
    })

    test('jobs of an account that did not ask for it, or no longer does, are not told', async () => {
      const { store, payer, types } = await openTold(kind)
      const { publicId } = (await store.accounts.findAccountById(payer.accountId))!
      const change = (jobEvents: boolean) => store.accounts.updateAccount(publicId, { jobEvents }, at(NOW))

      await jobIn('completed', store.jobs, aJob(payer))
      for (const isOn of [true, true, false]) await change(isOn)
      await jobIn('failed', store.jobs, aJob(payer))

      expect(await types()).toEqual([])
      const lines = await store.auditLog.list({ limit: 9 })
      expect(
        lines.flatMap(({ action, detail }) => (action === 'account.job_events' ? [detail] : [])),
      ).toEqual(['{"on":false}', '{"on":true}'])
    })
  })

  describe('the event of a key', () => {
    const window = { nowMs: NOW, untilMs: NOW + 7 * DAY_MS, limit: 10 }

    test('a key that expires within seven days is told once for each expiry, also after a restart', async () => {
      const { store, reopen, payer, told, types } = await openTold(kind)
      const [key] = await store.apiKeys.list(payer.accountId)
      const expire = (expiresAtMs: number, on = store) =>
        on.apiKeys.update(key!.publicId, { settings: { expiresAtMs } }, at(NOW))
      const count: number[] = []
      await expire(window.untilMs + 1)
      count.push(await store.alerts.tellExpiringKeys(window))
      await expire(window.untilMs)
      count.push(await store.alerts.tellExpiringKeys(window), await store.alerts.tellExpiringKeys(window))
      const first = await told()

      const again = await reopen()
      count.push(await again.alerts.tellExpiringKeys(window))
      await expire(window.untilMs - 1, again)
      count.push(await again.alerts.tellExpiringKeys(window))

      expect(count).toEqual([0, 1, 0, 0, 1])
      expect(first).toMatchObject([
        {
          type: 'key.expiring',
          data: {
            key: { id: key!.publicId, name: 'default' },
            expires_at: new Date(window.untilMs).toISOString(),
          },
        },
      ])
      expect(await types(again)).toEqual(['key.expiring'])
    })

    test('a key that is revoked, disabled or expired is not told, and at most the limit are told at once', async () => {
      const { store, payer, types } = await openTold(kind)
      const aKeyWith = async (patch: Parameters<typeof store.apiKeys.update>[1], expiresAtMs = NOW + 1) => {
        const { publicId } = await aKey(store, payer)
        await store.apiKeys.update(publicId, { settings: { expiresAtMs } }, at(NOW))
        await store.apiKeys.update(publicId, patch, at(NOW))
      }
      await aKeyWith(REVOKED)
      await aKeyWith({ disabled: true })
      await aKeyWith({}, NOW)
      for (let count = 0; count < 3; count += 1) await aKeyWith({})
      const two = { ...window, limit: 2 }

      const counts = [await store.alerts.tellExpiringKeys(two), await store.alerts.tellExpiringKeys(two)]

      expect(counts).toEqual([2, 1])
      expect(await types()).toEqual(['key.expiring', 'key.expiring', 'key.expiring'])
    })
  })

  test('a provider that was told to fail is known after a restart, until it is told to have recovered', async () => {
    const { store, reopen, told } = await openTold(kind)
    const failing = { provider: 'main', models: ['gpt-x'], atMs: NOW }

    await store.alerts.tellProvider({ type: 'provider.failing', ...failing })
    const again = await reopen()

    expect(await again.alerts.toldProviders()).toEqual([failing])
    await again.alerts.tellProvider({ type: 'provider.recovered', ...failing, atMs: NOW + 1 })
    expect(await again.alerts.toldProviders()).toEqual([])
    const data = { provider: 'main', models: ['gpt-x'] }
    expect(await told(again)).toMatchObject([
      { type: 'provider.failing', data },
      { type: 'provider.recovered', data },
    ])
  })
}
