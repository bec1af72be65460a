import { describe, expect, test } from 'bun:test'
import { usd } from '../../src/domain/money.ts'
import type { NewEvent } from '../../src/domain/webhooks/event.ts'
import type { DueMail, MailSettings } from '../../src/gateway/ports/events/mail.ts'
import { at, make } from '../support/account-builders.ts'
import { aCredit, NOW } from '../support/ledger-builders.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

const DAY = 86_400_000
const KEPT = 30 * DAY

const ON: MailSettings = { isOn: true, operators: ['ops@example.com'], perAddress: 2, perDay: 100 }
const aProblem = (id: string, atMs = NOW): NewEvent => ({ type: 'books.problem', data: {}, atMs, once: id })

/** Gives an account with contacts a credit, which is an event of the account. */
async function credit({ ledger }: TestStore, accountId: number, times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) await ledger.credit({ ...aCredit(accountId), amount: usd('5') })
}

async function anAccountOf(store: TestStore, name: string, contacts: readonly string[]) {
  const account = await make(store.accounts, name)
  await store.accounts.updateAccount(account.publicId, { contacts }, at(NOW))
  return account
}

/** Sends every mail that waits at an instant, and returns them. */
async function sendAll({ mailQueue: queue }: TestStore, atMs = NOW): Promise<readonly DueMail[]> {
  const sent: DueMail[] = []
  for (let due = await queue.next(atMs); due !== undefined; due = await queue.next(atMs)) {
    sent.push(due)
    await queue.record(due, { atMs, result: { outcome: 'sent' } })
  }
  return sent
}

const receivers = (mails: readonly DueMail[]) => mails.map(({ to }) => to)

/** What the mails of any store must do. */
export function mailConforms(kind: StoreKind): void {
  describe('the mails of a store', () => {
    test('an event about an account goes to operators and to its contacts only, also after a restart', async () => {
      const { store, reopen } = await kind.open()
      await store.mail.configure(ON)
      const ada = await anAccountOf(store, 'ada', ['ada@example.com', 'cfo@example.com'])
      await anAccountOf(store, 'ben', ['ben@example.com'])
      await credit(store, ada.id)

      const again = await reopen()
      const mails = await sendAll(again)

      expect(receivers(mails)).toEqual(['ops@example.com', 'ada@example.com', 'cfo@example.com'])
      expect(mails.map(({ isOperator }) => isOperator)).toEqual([true, false, false])
      const [{ about }] = mails as [DueMail]
      expect('event' in about && JSON.parse(about.event)).toMatchObject({
        type: 'balance.topped_up',
        data: { account: { name: 'ada' }, amount_usd: '5' },
      })
    })

    test('an event about the gateway only goes to operators, once', async () => {
      const { store } = await kind.open()
      await store.mail.configure(ON)
      await anAccountOf(store, 'ada', ['ada@example.com'])

      for (let repeat = 0; repeat < 2; repeat += 1) await store.webhooks.report(aProblem('1'))

      expect(receivers(await sendAll(store))).toEqual(['ops@example.com'])
    })

    test('without a mail server nothing is queued, and switching mails off ends those that wait', async () => {
      const { store } = await kind.open()
      const ada = await anAccountOf(store, 'ada', ['ada@example.com'])
      await credit(store, ada.id)
      expect(await store.mailQueue.next(NOW)).toBeUndefined()
      await store.mail.configure(ON)
      await credit(store, ada.id)

      await store.mail.configure({ ...ON, isOn: false, operators: [] })
      await credit(store, ada.id)

      expect(await store.mailQueue.next(NOW)).toBeUndefined()
      const { messages } = await store.mail.messages({ limit: 9 })
      // Those of the operator were removed with its address.
      expect(messages).toMatchObject([
        { to: 'ada@example.com', state: 'failed', problem: 'mails were switched off' },
      ])
    })

    test('contacts are replaced, and a removed one gets none of the mails that wait', async () => {
      const { store } = await kind.open()
      await store.mail.configure({ ...ON, operators: [] })
      const ada = await anAccountOf(store, 'ada', ['ada@example.com', 'old@example.com'])
      await credit(store, ada.id)

      const patch = { contacts: ['ADA@example.com', 'new@example.com'] }
      for (const atMs of [NOW + 1, NOW + 2]) await store.accounts.updateAccount(ada.publicId, patch, at(atMs))

      const { contacts } = (await store.accounts.findAccount('ada'))!
      expect(contacts).toEqual(['ada@example.com', 'new@example.com'])
      expect(receivers(await sendAll(store))).toEqual(['ada@example.com'])
      const lines = await store.auditLog.list({ limit: 9 })
      const changes = lines.filter(({ action }) => action === 'account.contacts')
      expect(changes.map(({ detail }) => detail)).toEqual(['{"contacts":2}', '{"contacts":2}'])
    })

    test('an address gets its number of mails a day, and one that says how many were left out', async () => {
      const { store } = await kind.open()
      await store.mail.configure({ ...ON, operators: [] })
      const ada = await anAccountOf(store, 'ada', ['ada@example.com'])
      await credit(store, ada.id, 5)

      expect(await sendAll(store)).toHaveLength(2)
      expect(await store.mail.counts()).toEqual({ waiting: 0, leftOut: 3 })
      expect(await store.mailQueue.queueLeftOut(NOW + 1, NOW - KEPT)).toBe(0)
      const next = NOW + DAY
      for (let repeat = 0; repeat < 2; repeat += 1) await store.mailQueue.queueLeftOut(next, next - KEPT)

      const [closing, ...others] = await sendAll(store, next)
      expect(others).toEqual([])
      expect(closing).toMatchObject({ to: 'ada@example.com', about: { leftOut: { count: 3 } } })
    })

    test('credits leave room for events about the gateway', async () => {
      const { store } = await kind.open()
      await store.mail.configure(ON)
      const ada = await anAccountOf(store, 'ada', [])
      await credit(store, ada.id, 5)

      await store.webhooks.report(aProblem('1'))

      expect(await sendAll(store)).toHaveLength(3)
    })

    test('the limit of a day leaves out contacts, and never operators', async () => {
      const { store } = await kind.open()
      await store.mail.configure({ ...ON, perDay: 1 })
      const ada = await anAccountOf(store, 'ada', ['ada@example.com'])
      await credit(store, ada.id, 2)

      expect(receivers(await sendAll(store))).toEqual(['ops@example.com', 'ops@example.com'])
      expect(await store.mail.counts()).toEqual({ waiting: 0, leftOut: 2 })
    })

    test('a failed mail is tried again for nearly a day, and a refused one is not', async () => {
      const { store } = await kind.open()
      await store.mail.configure(ON)
      await store.webhooks.report(aProblem('1'))
      const first = await store.mailQueue.next(NOW)
      const pauses: number[] = []
      let atMs = NOW
      for (let due = first; due !== undefined; due = await store.mailQueue.next(atMs)) {
        await store.mailQueue.record(due, { atMs, result: { outcome: 'failed', problem: 'down' } })
        const { messages } = await store.mail.messages({ limit: 1 })
        const next = messages[0]?.nextAttemptAtMs ?? atMs
        pauses.push((next - atMs) / 1000)
        expect(await store.mailQueue.next(next - 1)).toBeUndefined()
        atMs = next
      }
      await store.webhooks.report(aProblem('2'))
      const second = (await store.mailQueue.next(NOW))!
      await store.mailQueue.record(second, { atMs: NOW, result: { outcome: 'refused', problem: '550' } })

      expect(pauses).toEqual([5, 60, 300, 1800, 7200, 14_400, 28_800, 32_400, 0])
      expect((await store.mail.messages({ limit: 9, state: 'failed' })).messages).toMatchObject([
        { attempts: 1, problem: '550' },
        { attempts: 9, problem: 'down', publicId: first?.publicId },
      ])
    })

    test('contacts and settings that one node changes are those of the other, from the next event on', async () => {
      const { store, other } = await kind.open()
      await store.mail.configure({ ...ON, operators: [] })
      const ada = await anAccountOf(store, 'ada', ['ada@example.com'])
      await credit(other, ada.id)
      await store.accounts.updateAccount(ada.publicId, { contacts: ['cfo@example.com'] }, at(NOW))
      await credit(other, ada.id)
      expect(receivers(await sendAll(other))).toEqual(['cfo@example.com'])

      await store.mail.configure({ ...ON, isOn: false })
      await credit(other, ada.id)

      expect(await other.mail.counts()).toEqual({ waiting: 0, leftOut: 0 })
    })

    test('the mails of a day are counted over both nodes', async () => {
      const { store, other } = await kind.open()
      await store.mail.configure({ ...ON, operators: ['ops@example.com', 'cto@example.com'] })
      const nodes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other))

      await Promise.all(nodes.map((node, index) => node.webhooks.report(aProblem(`${index}`))))

      // Twice as many as for events about accounts.
      expect(await store.mail.counts()).toEqual({ waiting: 8, leftOut: 32 })
    })

    test('the log of mails has pages, newest first', async () => {
      const { store } = await kind.open()
      await store.mail.configure({ ...ON, perAddress: 9 })
      for (const id of ['1', '2', '3']) await store.webhooks.report(aProblem(id))

      const first = await store.mail.messages({ limit: 2 })
      const second = await store.mail.messages({ limit: 2, cursor: first.next! })

      expect([first.messages.length, second.messages.length, second.next]).toEqual([2, 1, undefined])
      expect(first.messages[0]).toMatchObject({
        to: 'ops@example.com',
        accountId: undefined,
        event: { type: 'books.problem' },
        state: 'waiting',
        attempts: 0,
      })
    })

    test('mails are removed with their events, after 30 days', async () => {
      const { store } = await kind.open()
      await store.mail.configure({ ...ON, operators: [] })
      const ada = await anAccountOf(store, 'ada', ['ada@example.com'])
      await credit(store, ada.id, 3)
      await store.mailQueue.queueLeftOut(NOW + DAY, NOW + DAY - KEPT)

      await store.webhookQueue.removeBefore(NOW + DAY, 100)
      expect((await store.mail.messages({ limit: 9 })).messages).toHaveLength(1)
      await store.mailQueue.queueLeftOut(NOW + 40 * DAY, NOW + 10 * DAY)

      expect((await store.mail.messages({ limit: 9 })).messages).toEqual([])
    })
  })
}
