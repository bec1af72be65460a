import { describe, expect, test } from 'bun:test'
import { usd } from '../../src/domain/money.ts'
import type { NewEvent } from '../../src/domain/webhooks/event.ts'
import type { Webhook } from '../../src/domain/webhooks/webhook.ts'
import { WEBHOOKS_MAX, type NewWebhook } from '../../src/gateway/ports/events/webhooks.ts'
import { at, make } from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aCharge, aCredit, aHold, anAccount, anId, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const SECRET = 'whsec_AAAA'

function aWebhook({ webhooks }: TestStore, of: Partial<NewWebhook> = {}): Promise<Webhook> {
  return webhooks.create({
    publicId: `whk_${anId().key}`,
    accountId: undefined,
    url: 'https://example.com/hook',
    events: ['balance.granted', 'balance.topped_up', 'balance.low', 'books.problem', 'webhook.switched_off'],
    note: '',
    secret: SECRET,
    by: at(NOW),
    ...of,
  })
}

const aProblem = (id: string): NewEvent => ({ type: 'books.problem', data: {}, atMs: NOW, once: id })

/** The types of the events whose messages a webhook has, oldest first. */
async function typesOf({ ledger, webhooks }: TestStore, webhook: Webhook): Promise<readonly string[]> {
  // A store may write the events of charges in a step after them, and does it here at the latest.
  await ledger.renewHolds()
  const { messages } = await webhooks.messages(webhook, { limit: 100 })
  return messages.map(({ event }) => event.type).reverse()
}

/** Fails the next message of a webhook at an instant. Returns whether there was one. */
async function failNext({ webhookQueue: queue }: TestStore, { id }: Webhook, atMs: number): Promise<boolean> {
  const due = await queue.next(id, atMs)
  if (due === undefined) return false
  await queue.record(due, { atMs, durationMs: 5, status: 500, problem: 'status 500' })
  return true
}

/** What the webhooks of any store must do. */
export function webhooksConform(kind: StoreKind): void {
  describe('the webhooks of a store', () => {
    test('a webhook is found by its id and listed with its account, also after a restart', async () => {
      const { store, reopen } = await kind.open()
      const ada = await make(store.accounts, 'ada')
      const own = await aWebhook(store, { accountId: ada.id, note: 'billing' })
      const operators = await aWebhook(store)

      const again = await reopen()

      expect(await again.webhooks.find(own.publicId)).toEqual(own)
      expect(await again.webhooks.list(ada.id)).toEqual([own])
      expect(await again.webhooks.list()).toEqual([own, operators])
    })

    test('a removed webhook is not found, its waiting messages end, and repeating the removal changes nothing', async () => {
      const { store } = await kind.open()
      const webhook = await aWebhook(store)
      await store.webhooks.report(aProblem('1'))

      for (const atMs of [NOW, NOW + 1]) await store.webhooks.remove(webhook.publicId, at(atMs))

      expect(await store.webhooks.find(webhook.publicId)).toBeUndefined()
      expect(await store.webhookQueue.due(NOW, { limit: 9, busy: new Set() })).toEqual([])
      const lines = await store.auditLog.list({ limit: 9 })
      expect(lines.filter(({ action }) => action === 'webhook.remove')).toHaveLength(1)
    })

    test('an owner has at most 20 webhooks', async () => {
      const { store } = await kind.open()
      const ada = await make(store.accounts, 'ada')
      for (let count = 0; count < WEBHOOKS_MAX; count += 1) await aWebhook(store, { accountId: ada.id })

      expect(await rejection(aWebhook(store, { accountId: ada.id }))).toMatchObject({
        code: 'too_many_webhooks',
      })
      expect(await aWebhook(store)).toMatchObject({ accountId: undefined })
    })

    test('each change has an audit line, none has the path of the address, and a repeat has none', async () => {
      const { store } = await kind.open()
      const { publicId } = await aWebhook(store)
      const patch = { url: 'https://other.example/secret-path', isOn: false } as const

      for (const atMs of [NOW + 1, NOW + 2]) await store.webhooks.update(publicId, patch, at(atMs))

      const lines = await store.auditLog.list({ limit: 9 })
      const ofWebhook = lines.filter(({ subject }) => subject === publicId).reverse()
      expect(ofWebhook.map(({ action }) => action)).toEqual([
        'webhook.create',
        'webhook.change',
        'webhook.switch_off',
      ])
      expect(ofWebhook[1]).toMatchObject({ detail: '{"host":"other.example"}', atMs: NOW + 1 })
    })
  })

  describe('the events of a store', () => {
    test('a credit tells the webhooks of the operator and of its account, once', async () => {
      const { store } = await kind.open()
      const ada = await make(store.accounts, 'ada')
      const ben = await make(store.accounts, 'ben')
      const operators = await aWebhook(store)
      const [ofAda, ofBen] = [
        await aWebhook(store, { accountId: ada.id }),
        await aWebhook(store, { accountId: ben.id }),
      ]
      const credit = { ...aCredit(ada.id), amount: usd('5'), note: 'invoice 17' }

      for (let repeat = 0; repeat < 2; repeat += 1) await store.ledger.credit(credit)

      expect(await typesOf(store, operators)).toEqual(['balance.topped_up'])
      expect(await typesOf(store, ofAda)).toEqual(['balance.topped_up'])
      expect(await typesOf(store, ofBen)).toEqual([])
      const due = await store.webhookQueue.next(ofAda.id, NOW * 2)
      // The note of a credit is for the audit log.
      expect(JSON.parse(due?.body ?? '')).toMatchObject({
        type: 'balance.topped_up',
        data: expect.not.objectContaining({ note: expect.anything() }),
      })
      expect(JSON.parse(due?.body ?? '')).toMatchObject({
        data: { account: { id: ada.publicId, name: 'ada' }, amount_usd: '5', available_usd: '5' },
      })
    })

    test('an event without a webhook that asked for it is not recorded', async () => {
      const { store } = await kind.open()
      const webhook = await aWebhook(store, { events: ['balance.low'] })
      const off = await aWebhook(store)
      await store.webhooks.update(off.publicId, { isOn: false }, at(NOW))

      await store.webhooks.report(aProblem('1'))

      expect([await typesOf(store, webhook), await typesOf(store, off)]).toEqual([[], []])
      await store.webhooks.update(webhook.publicId, { events: ['books.problem'] }, at(NOW))
      await store.webhooks.report(aProblem('1'))
      expect(await typesOf(store, webhook)).toEqual(['books.problem'])
    })

    test('an event that is sent once is recorded once, also after a restart', async () => {
      const { store, reopen } = await kind.open()
      const webhook = await aWebhook(store)
      for (const id of ['1', '1', '2']) await store.webhooks.report(aProblem(id))

      const again = await reopen()
      await again.webhooks.report(aProblem('1'))

      expect(await typesOf(again, webhook)).toEqual(['books.problem', 'books.problem'])
    })

    test('a low balance is told once, and again after the balance was not below', async () => {
      const { store } = await kind.open()
      const { accountId, apiKeyId } = await anAccount(store, { funds: usd('10') })
      const account = await store.accounts.findAccountById(accountId)
      const webhook = await aWebhook(store, { accountId, events: ['balance.low'] })
      const spend = async (amount: string) => {
        const hold = aHold({ accountId, kind: 'text', amount: usd(amount) })
        await store.ledger.placeHold(hold)
        await store.ledger.captureHold(hold, aCharge(apiKeyId, { cost: usd(amount) }))
      }
      await store.accounts.updateAccount(account!.publicId, { alertBelow: usd('5') }, at(NOW))
      const told: number[] = []
      const count = async () => told.push((await typesOf(store, webhook)).length)

      await spend('5')
      await count()
      await spend('1')
      await spend('1')
      await count()
      await store.ledger.credit({ ...aCredit(accountId), amount: usd('2') })
      await count()
      await spend('1')
      await count()

      expect(told).toEqual([0, 1, 1, 2])
    })

    test('held money counts as balance, because it can come back', async () => {
      const { store } = await kind.open()
      const { accountId } = await anAccount(store, { funds: usd('10') })
      const { publicId } = (await store.accounts.findAccountById(accountId))!
      const webhook = await aWebhook(store, { accountId, events: ['balance.low'] })
      await store.accounts.updateAccount(publicId, { alertBelow: usd('5') }, at(NOW))

      await store.ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('9') }))

      expect(await typesOf(store, webhook)).toEqual([])
    })

    test('a new alert tells of a balance that is below it already, and null removes it', async () => {
      const { store, reopen } = await kind.open()
      const { accountId } = await anAccount(store, { funds: usd('1') })
      const { publicId } = (await store.accounts.findAccountById(accountId))!
      const webhook = await aWebhook(store, { accountId, events: ['balance.low'] })

      const set = await store.accounts.updateAccount(publicId, { alertBelow: usd('5') }, at(NOW))
      await store.accounts.updateAccount(publicId, { alertBelow: usd('5') }, at(NOW))

      expect(set.alertBelow).toBe(usd('5'))
      expect(await typesOf(store, webhook)).toEqual(['balance.low'])
      const again = await reopen()
      expect(await again.accounts.findAccountById(accountId)).toMatchObject({ alertBelow: usd('5') })
      await again.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
      expect(await typesOf(again, webhook)).toEqual(['balance.low'])
      const removed = await again.accounts.updateAccount(publicId, { alertBelow: null }, at(NOW))
      expect(removed.alertBelow).toBeUndefined()
      const lines = await again.auditLog.list({ limit: 9 })
      expect(
        lines.filter(({ action }) => action === 'account.balance_alert').map(({ detail }) => detail),
      ).toEqual(['{"below_usd":null}', '{"below_usd":"5"}'])
    })
  })

  describe('the webhooks of two nodes', () => {
    test('a webhook that one node changes, switches off or removes gets the next event of the other like that', async () => {
      const { store, other } = await kind.open()
      const webhook = await aWebhook(store)
      const leaving = await aWebhook(other)
      await other.webhooks.report(aProblem('1'))

      await store.webhooks.update(webhook.publicId, { events: ['balance.low'] }, at(NOW))
      await store.webhooks.remove(leaving.publicId, at(NOW))
      await other.webhooks.report(aProblem('2'))
      await store.webhooks.update(webhook.publicId, { events: ['books.problem'] }, at(NOW))
      await other.webhooks.report(aProblem('3'))
      await store.webhooks.update(webhook.publicId, { isOn: false }, at(NOW))
      await other.webhooks.report(aProblem('4'))

      expect(await typesOf(other, webhook)).toEqual(['books.problem', 'books.problem'])
      expect(await typesOf(other, leaving)).toEqual(['books.problem'])
    })

    test('an event that both record at the same time, and that is sent once, is sent once', async () => {
      const { store, other } = await kind.open()
      const webhook = await aWebhook(store)
      const nodes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other))

      await Promise.all(nodes.map((node, index) => node.webhooks.report(aProblem(`${index % 3}`))))

      expect(await typesOf(store, webhook)).toHaveLength(3)
    })

    test('no message waits for a webhook that is switched off while both record events', async () => {
      const { store, other } = await kind.open()
      const webhook = await aWebhook(store)
      const report = (from: number) =>
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : other).webhooks.report(aProblem(`${from + index}`)),
        )

      await Promise.all([
        ...report(0),
        store.webhooks.update(webhook.publicId, { isOn: false }, at(NOW)),
        ...report(20),
      ])

      expect(await store.webhooks.counts()).toEqual({ waiting: 0, dropped: 0 })
      expect(await store.webhookQueue.next(webhook.id, NOW * 2)).toBeUndefined()
    })

    test('the three days of failures are counted over both, and the webhook is switched off once', async () => {
      const { store, other } = await kind.open()
      const [failing, told] = [await aWebhook(store), await aWebhook(store)]
      for (const id of ['1', '2', '3']) await store.webhooks.report(aProblem(id))
      await failNext(store, failing, NOW)

      const due = (await other.webhookQueue.next(failing.id, NOW + 72 * HOUR))!
      const attempt = { atMs: NOW + 72 * HOUR, durationMs: 5, status: 500, problem: 'status 500' }
      await Promise.all([store, other].map(node => node.webhookQueue.record(due, attempt)))

      expect((await store.webhooks.find(failing.publicId))?.off).toEqual({
        atMs: NOW + 72 * HOUR,
        reason: 'failing',
      })
      expect((await typesOf(store, told)).filter(type => type === 'webhook.switched_off')).toHaveLength(1)
    })
  })

  describe('the queue of a webhook', () => {
    test('a message has the secret, and during a rotation both, the new one first', async () => {
      const { store, reopen } = await kind.open()
      const webhook = await aWebhook(store)
      await store.webhooks.report(aProblem('1'))
      const secrets = async (on: TestStore, atMs: number) =>
        (await on.webhookQueue.next(webhook.id, atMs))?.secrets

      expect(await secrets(store, NOW)).toEqual([SECRET])
      const rotated = { secret: 'whsec_BBBB', oldEndsAtMs: NOW + HOUR }
      await store.webhooks.rotate(webhook.publicId, rotated, at(NOW))
      const again = await reopen()

      expect(await secrets(again, NOW + HOUR - 1)).toEqual(['whsec_BBBB', SECRET])
      expect(await secrets(again, NOW + HOUR)).toEqual(['whsec_BBBB'])
    })

    test('a message is retried after growing pauses for nearly a day, and then fails', async () => {
      const { store } = await kind.open()
      const webhook = await aWebhook(store)
      await store.webhooks.report(aProblem('1'))
      const attempts: number[] = []
      let atMs = NOW

      while (await failNext(store, webhook, atMs)) {
        attempts.push(atMs - NOW)
        const { messages } = await store.webhooks.messages(webhook, { limit: 1 })
        atMs = messages[0]?.nextAttemptAtMs ?? atMs
      }

      expect(attempts.slice(0, 4)).toEqual([0, 5 * SECOND, 65 * SECOND, 6 * MINUTE + 5 * SECOND])
      expect(attempts).toHaveLength(9)
      expect(attempts.at(-1)).toBeWithin(23 * HOUR, 24 * HOUR)
      const { messages } = await store.webhooks.messages(webhook, { limit: 1 })
      expect(messages[0]).toMatchObject({
        state: 'failed',
        attempts: 9,
        latest: { status: 500, problem: 'status 500' },
      })
    })

    test('a delivered message is not due again, until it is redelivered with the same id', async () => {
      const { store, reopen } = await kind.open()
      const webhook = await aWebhook(store)
      await store.webhooks.report(aProblem('1'))
      const first = (await store.webhookQueue.next(webhook.id, NOW))!
      await store.webhookQueue.record(first, { atMs: NOW, durationMs: 3, status: 200, problem: null })

      expect(await store.webhookQueue.next(webhook.id, NOW + HOUR)).toBeUndefined()
      const message = await store.webhooks.redeliver(webhook, first.publicId, NOW + HOUR)

      expect(message).toMatchObject({ publicId: first.publicId, state: 'waiting', attempts: 0 })
      const again = await reopen()
      expect(await again.webhookQueue.next(webhook.id, NOW + HOUR)).toEqual(first)
    })

    test('a message of another webhook is not redelivered', async () => {
      const { store } = await kind.open()
      const [webhook, other] = [await aWebhook(store), await aWebhook(store, { events: ['balance.low'] })]
      await store.webhooks.report(aProblem('1'))
      const { publicId } = (await store.webhookQueue.next(webhook.id, NOW))!

      expect(await store.webhooks.redeliver(other, publicId, NOW)).toBeUndefined()
    })

    test('a webhook whose attempts fail for three days is switched off, and the operator is told', async () => {
      const { store } = await kind.open()
      const [failing, other] = [await aWebhook(store), await aWebhook(store)]
      for (const id of ['1', '2', '3']) await store.webhooks.report(aProblem(id))

      await failNext(store, failing, NOW)
      await failNext(store, failing, NOW + 72 * HOUR - 1)
      expect((await store.webhooks.find(failing.publicId))?.off).toBeUndefined()
      await failNext(store, failing, NOW + 72 * HOUR)

      expect(await store.webhooks.find(failing.publicId)).toMatchObject({
        off: { atMs: NOW + 72 * HOUR, reason: 'failing' },
        failingSinceMs: NOW,
      })
      expect((await typesOf(store, other)).at(-1)).toBe('webhook.switched_off')
      const { messages } = await store.webhooks.messages(failing, { limit: 9 })
      expect(messages.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed'])
      expect(await rejection(store.webhooks.sendTest(failing.publicId, NOW))).toMatchObject({
        code: 'webhook_off',
      })
      const on = await store.webhooks.update(failing.publicId, { isOn: true }, at(NOW + 80 * HOUR))
      expect(on).toMatchObject({ off: undefined, failingSinceMs: null })
    })

    test('one success ends the three days', async () => {
      const { store } = await kind.open()
      const webhook = await aWebhook(store)
      for (const id of ['1', '2', '3']) await store.webhooks.report(aProblem(id))

      await failNext(store, webhook, NOW)
      const due = (await store.webhookQueue.next(webhook.id, NOW + HOUR))!
      await store.webhookQueue.record(due, { atMs: NOW + HOUR, durationMs: 1, status: 200, problem: null })
      await failNext(store, webhook, NOW + 80 * HOUR)

      expect(await store.webhooks.find(webhook.publicId)).toMatchObject({
        off: undefined,
        failingSinceMs: NOW + 80 * HOUR,
      })
    })

    test('the webhooks with due messages are listed, the one that waits longest first, without the busy ones', async () => {
      const { store } = await kind.open()
      const [first, second] = [await aWebhook(store), await aWebhook(store)]
      await store.webhooks.sendTest(second.publicId, NOW)
      await store.webhooks.sendTest(first.publicId, NOW + 1)
      const due = (busy: readonly number[], limit = 9) =>
        store.webhookQueue.due(NOW + 1, { limit, busy: new Set(busy) })

      expect(await store.webhookQueue.due(NOW - 1, { limit: 9, busy: new Set() })).toEqual([])
      expect(await due([])).toEqual([second.id, first.id])
      expect(await due([second.id], 1)).toEqual([first.id])
    })

    test('events are removed with their messages when they are old', async () => {
      const { store } = await kind.open()
      const webhook = await aWebhook(store)
      for (const [id, atMs] of [
        ['1', NOW],
        ['2', NOW + 1],
        ['3', NOW + 2],
      ] as const)
        await store.webhooks.report({ ...aProblem(id), atMs })

      expect(await store.webhookQueue.removeBefore(NOW + 2, 1)).toBe(1)
      expect(await store.webhookQueue.removeBefore(NOW + 2, 9)).toBe(1)
      expect(await store.webhookQueue.removeBefore(NOW + 2, 9)).toBe(0)

      const { messages } = await store.webhooks.messages(webhook, { limit: 9 })
      expect(messages.map(({ event }) => event.atMs)).toEqual([NOW + 2])
    })

    test('messages are listed in pages, newest first, and by their state', async () => {
      const { store } = await kind.open({ clock: fakeClock(NOW) })
      const webhook = await aWebhook(store)
      for (const id of ['1', '2', '3']) await store.webhooks.report(aProblem(id))
      await failNext(store, webhook, NOW)

      const page = await store.webhooks.messages(webhook, { limit: 2 })
      const rest = await store.webhooks.messages(webhook, { limit: 2, cursor: page.next! })
      const all = [...page.messages, ...rest.messages]

      expect([page.messages.length, rest.messages.length, rest.next]).toEqual([2, 1, undefined])
      expect(new Set(all.map(({ publicId }) => publicId)).size).toBe(3)
      const waiting = await store.webhooks.messages(webhook, { limit: 9, state: 'delivered' })
      expect(waiting.messages).toEqual([])
      expect(await store.webhooks.counts()).toEqual({ waiting: 3, dropped: 0 })
    })
  })
}
