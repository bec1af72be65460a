import { describe, expect, test } from 'bun:test'
import { eventsConform } from '../../../../test/conformance/events.ts'
import { webhooksConform } from '../../../../test/conformance/webhooks.ts'
import { at } from '../../../../test/support/account-builders.ts'
import { anId, NOW } from '../../../../test/support/ledger-builders.ts'
import { conformsOnPostgres } from '../../../../test/support/postgres/store-kind.ts'
import { aSqliteStore, sqlite } from '../../../../test/support/test-store.ts'
import { QUEUE_MAX } from './receivers.ts'

describe('sqlite webhooks', () => {
  webhooksConform(sqlite)
  eventsConform(sqlite)
})
conformsOnPostgres(webhooksConform, eventsConform)

test('secrets are encrypted, and bound to their webhook', async () => {
  const store = aSqliteStore()
  const create = (secret: string) =>
    store.webhooks.create({
      publicId: `whk_${anId().key}`,
      accountId: undefined,
      url: 'https://example.com/',
      events: ['webhook.test'],
      note: '',
      secret,
      by: at(NOW),
    })
  const [first, second] = [await create('whsec_first'), await create('whsec_second')]

  const rows = store.database.query<{ secret: Uint8Array }, []>('SELECT secret FROM webhooks').all()
  expect(rows.map(({ secret }) => Buffer.from(secret).includes('whsec_'))).toEqual([false, false])

  store.database.run('UPDATE webhooks SET secret = (SELECT secret FROM webhooks WHERE id = ?) WHERE id = ?', [
    first.id,
    second.id,
  ])
  await store.webhooks.sendTest(second.publicId, NOW)
  expect((await store.webhookQueue.next(second.id, NOW))?.secrets).toEqual([])
})

test('a queue of 10,000 messages takes no more, and counts what it drops', async () => {
  const store = aSqliteStore()
  const webhook = await store.webhooks.create({
    publicId: 'whk_1',
    accountId: undefined,
    url: 'https://example.com/',
    events: ['books.problem'],
    note: '',
    secret: 'whsec_AAAA',
    by: at(NOW),
  })
  const report = () => store.webhooks.report({ type: 'books.problem', data: {}, atMs: NOW })
  await report()
  // The count of a queue is read when the process begins, and after each change of a webhook.
  store.database.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
      INSERT INTO webhook_messages (public_id, webhook_id, event_id, state, next_attempt_at_ms)
      SELECT 'msg_' || n, 1, 1, 'waiting', 1 FROM numbers`,
    [QUEUE_MAX],
  )
  await store.webhooks.update(webhook.publicId, { note: 'full' }, at(NOW))

  for (let dropped = 0; dropped < 2; dropped += 1) await report()
  const first = (await store.webhookQueue.next(webhook.id, NOW))!
  await store.webhookQueue.record(first, { atMs: NOW, durationMs: 1, status: 200, problem: null })
  await store.webhooks.redeliver(webhook, first.publicId, NOW)
  await report()
  await store.webhookQueue.record(first, { atMs: NOW, durationMs: 1, status: 200, problem: null })
  for (let sent = 0; sent < 2; sent += 1) await report()

  expect(await store.webhooks.find(webhook.publicId)).toMatchObject({ dropped: 4 })
  expect(await store.webhooks.counts()).toEqual({ waiting: QUEUE_MAX, dropped: 4 })
})
