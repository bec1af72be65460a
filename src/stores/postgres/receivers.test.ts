import { afterEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { at, make } from '../../../test/support/account-builders.ts'
import { aCredit, anId, NOW } from '../../../test/support/ledger-builders.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import type { NewWebhook } from '../../gateway/ports/events/webhooks.ts'
import { until } from '../../http1/testing/until.ts'
import { usd } from '../../domain/money.ts'
import { QUEUE_MAX } from '../books/events/receivers.ts'

const server = await runServer()

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const aWebhook: NewWebhook = {
  publicId: 'whk_1',
  accountId: undefined,
  url: 'https://example.com/',
  events: ['books.problem'],
  note: '',
  secret: 'whsec_AAAA',
  by: at(NOW),
}

async function openNodes() {
  const url = await aDatabase(server!)
  const nodes = [await aNode(url, 'one'), await aNode(url, 'two')] as const
  const sql = new SQL(url, { max: 1 })
  ends.push(...nodes.map(node => () => node.close()), () => sql.close())
  return { nodes, sql }
}

describe.skipIf(server === undefined)('the queue of a webhook on PostgreSQL', () => {
  test('two nodes together fill a queue to 10,000 messages, and count what they drop', async () => {
    const { nodes, sql } = await openNodes()
    const [one, two] = nodes
    const report = (node: typeof one) => node.webhooks.report({ type: 'books.problem', data: {}, atMs: NOW })
    const webhook = await one.webhooks.create(aWebhook)
    await report(one)
    await sql`
      INSERT INTO webhook_messages (public_id, webhook_id, event_id, state, next_attempt_at_ms)
        SELECT 'msg_' || n, webhook_id, event_id, 'waiting', 1
          FROM webhook_messages, generate_series(2, ${QUEUE_MAX - 3}) AS n`

    await Promise.all([one, two, one, two, one, two].map(report))

    expect(await two.webhooks.counts()).toEqual({ waiting: QUEUE_MAX, dropped: 3 })
    expect(await two.webhooks.find(webhook.publicId)).toMatchObject({ dropped: 3 })
  })

  test('an event that nobody gets does not wait for the steps of other events', async () => {
    const { nodes, sql } = await openNodes()
    const [one] = nodes
    const ada = await make(one.accounts, 'ada')

    const credited = await sql.begin(async other => {
      // A step has this lock of `events` until it ends.
      await other`SELECT pg_advisory_xact_lock(1953459044, 3)`
      return one.ledger.credit({ ...aCredit(ada.id), amount: usd('5') })
    })

    expect(credited.available).toBe(usd('5'))
  })

  test('a webhook that is switched off while an event waits for its lock gets no message', async () => {
    const { nodes, sql } = await openNodes()
    const [one] = nodes
    const ada = await make(one.accounts, 'ada')
    const webhook = await one.webhooks.create({ ...aWebhook, events: ['balance.topped_up'] })

    const credit = await sql.begin(async other => {
      await other`SELECT pg_advisory_xact_lock(1953459044, 3)`
      const credited = one.ledger.credit({ ...aCredit(ada.id), amount: usd('5') })
      await until('the credit waits', async () => {
        const [found] = await other`SELECT count(*)::integer AS waiting FROM pg_locks
          WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        return found.waiting === 1
      })
      await other`UPDATE webhooks SET off_at_ms = ${NOW}, off_reason = 'operator'`
      return { credited }
    })

    expect((await credit.credited).available).toBe(usd('5'))
    expect((await one.webhooks.messages(webhook, { limit: 1 })).messages).toEqual([])
  })

  test('steps of accounts, money and webhooks on two nodes never wait for each other in a circle', async () => {
    const { nodes, sql } = await openNodes()
    const [one, two] = nodes
    await one.mail.configure({ isOn: true, operators: ['ops@example.com'], perAddress: 1000, perDay: 1000 })
    const accounts = [await make(one.accounts, 'ada'), await make(one.accounts, 'ben')]
    const webhook = await one.webhooks.create({ ...aWebhook, events: ['balance.topped_up', 'balance.low'] })

    const work = Array.from({ length: 6 }, (_, round) =>
      [one, two].flatMap(node =>
        accounts.flatMap(({ id, publicId }) => {
          const contacts = [`c${round}@example.com`]
          const alertBelow = usd(String(1000 - round))
          const name = `${publicId} ${round}`
          return [
            node.ledger.credit({ ...aCredit(id), amount: usd('1') }),
            node.webhooks.create({ ...aWebhook, publicId: `whk_${anId().key}`, accountId: id }),
            node.accounts.updateAccount(
              publicId,
              { name, contacts, alertBelow, jobEvents: round % 2 === 0 },
              at(NOW),
            ),
            node.webhooks.update(webhook.publicId, { note: `${round}` }, at(NOW)),
          ]
        }),
      ),
    ).flat()
    const outcomes = await Promise.allSettled<unknown>(work)

    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
    const [{ deadlocks }] = await sql`
      SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()`
    expect(deadlocks).toBe(0)
    const { messages } = await two.webhooks.messages(webhook, { limit: 100 })
    expect(messages.filter(({ event }) => event.type === 'balance.topped_up')).toHaveLength(24)
  })
})
