import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { nanoUsd, usd, type NanoUsd } from '../../../domain/money.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { aJob, jobIn } from '../../../../test/support/job-builders.ts'
import { aCharge, aCredit, anAccount, hold, NOW } from '../../../../test/support/ledger-builders.ts'
import { tamper, tamperFile } from '../../../../test/support/tamper.ts'
import { aSqliteStore, type TestSqlite } from '../../../../test/support/test-store.ts'
import { migrate } from './migrate.ts'
import { isUsageRebuilt } from '../usage-days.ts'

const FOLDER = join(import.meta.dirname, '../migrations')

/** A database with the first migrations only, as an earlier version left it. */
function aStoreOf(migrations: number): { readonly path: string; readonly database: Database } {
  const folder = aDataFolder()
  const some = join(folder, 'migrations')
  mkdirSync(some)
  for (const name of readdirSync(FOLDER).sort().slice(0, migrations))
    copyFileSync(join(FOLDER, name), join(some, name))
  const path = join(folder, 'tollgate.db')
  const database = new Database(path, { create: true, readwrite: true, safeIntegers: true, strict: true })
  migrate(database, some)
  return { path, database }
}

test('the history of the catalog begins with the catalog of an earlier version', async () => {
  const { path, database } = aStoreOf(12)
  const row = JSON.stringify({ id: 'main', kind: 'openai-compatible', base_url: 'https://a.example.com/v1' })
  database.run('UPDATE catalog_state SET revision = 7, updated_at_ms = 70')
  database.run('INSERT INTO providers (id, position, content) VALUES (?, 0, ?)', ['main', row])
  database.close()

  const store = aSqliteStore(path)

  const [first, ...others] = await store.catalog.history({ limit: 10 })
  expect(first).toMatchObject({ revision: 7, action: 'history.begin', atMs: 70 })
  expect(others).toEqual([])
  expect((await store.catalog.at(7))?.providers.map(({ id }) => id)).toEqual(['main'])
  await store.close()
})

test('operations and entries that were separate rows become one row each', async () => {
  const { path, database } = aStoreOf(4)
  database.run(BOOKS_BEFORE_0005)
  database.close()

  const store = aSqliteStore(path)

  const { ledger } = store
  expect(await ledger.verify()).toEqual({ problems: [], entries: 13, affected: [] })
  const statement = await ledger.statement(1, { limit: 10 })
  expect(statement.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual([
    'release 10',
    'hold -10',
    'capture 4',
    'hold -10',
    'charge -30',
    'top_up 100',
  ])
  expect((await ledger.usage(1, { limit: 10 })).map(({ cost }) => String(cost))).toEqual(['6', '30'])
  expect(store.database.query('SELECT * FROM operations WHERE id = 4').get()).toMatchObject({
    book_1: 'held.media',
    amount_1: -10n,
    balance_after_1: 0n,
    book_2: 'revenue.media',
    amount_2: 6n,
    balance_after_2: 6n,
    book_3: 'available',
    amount_3: 4n,
    balance_after_3: 64n,
  })
  expect(store.database.query('PRAGMA foreign_key_check').all()).toEqual([])
  await store.close()
})

test('ids that were only stored by their first half keep their money, their statements and their order', async () => {
  const { path, database } = aStoreOf(5)
  database.run(BOOKS_BEFORE_0006)
  database.close()

  const store = aSqliteStore(path)

  const { ledger } = store
  const idsOf = (lines: readonly { id: { key: bigint; tail: bigint } }[]) =>
    lines.map(({ id: { key, tail } }) => (tail === -key ? Number(key) : undefined))
  expect(await ledger.verify()).toEqual({ problems: [], entries: 17, affected: [] })
  expect(await ledger.balance(1)).toEqual({
    available: nanoUsd(54n),
    held: { text: nanoUsd(0n), media: nanoUsd(3n) },
    spent: { text: nanoUsd(37n), media: nanoUsd(6n) },
    credited: nanoUsd(100n),
  })
  expect((await ledger.balance(2)).available).toBe(nanoUsd(45n))
  const statement = await ledger.statement(1, { limit: 10 })
  expect(statement.map(({ number, kind, amount }) => `${number} ${kind} ${amount}`)).toEqual([
    '6 hold -3',
    '5 capture 4',
    '4 hold -10',
    '3 charge -7',
    '2 charge -30',
    '1 top_up 100',
  ])
  expect(statement.at(-1)).toMatchObject({ note: 'hello', ref: 'code-1' })
  expect(idsOf(await ledger.usage(1, { limit: 10 }))).toEqual([13, 10, 11, 12])
  expect(idsOf(await ledger.usage(undefined, { limit: 10 }))).toEqual([13, 10, 21, 11, 12])
  expect(idsOf(await ledger.usage(undefined, { limit: 10, before: '21' }))).toEqual([11, 12])
  expect(await store.attempts.billed(5)).toEqual([{ requestId: { key: 30n, tail: -30n }, number: 2 }])
  expect(store.database.query('PRAGMA foreign_key_check').all()).toEqual([])
  expect(store.lastKey()).toBe(30n)
  await store.close()
})

test.each([
  "UPDATE charges SET model = 'x' WHERE id_key = 11",
  'DELETE FROM attempts',
  'DELETE FROM audit_log WHERE id = 1',
  'UPDATE api_keys SET account_id = 1 WHERE id = 3',
  "UPDATE holds SET placed_at_ms = 3 WHERE state = 'released'",
])('rows of earlier versions are covered by commits, and verify reports %s', async edit => {
  const { path, database } = aStoreOf(5)
  database.run(BOOKS_BEFORE_0006)
  database.run(`INSERT INTO audit_log VALUES (1, 'admin', 'account.create', 'acct_1', 1, NULL);
    INSERT INTO api_keys VALUES (3, 'key_3', 2, 'spare', randomblob(32), 'tg_', 1, NULL);
    INSERT INTO holds VALUES (15, -15, 1, 'media', 0, 'released', NULL, NULL, 8, 9)`)
  database.close()
  const upgraded = aSqliteStore(path)
  await upgraded.ledger.credit({ ...aCredit(1), id: { key: 1000n, tail: 1n }, amount: nanoUsd(1n) })
  const before = await upgraded.ledger.verify()

  tamper(upgraded, edit)
  const { problems } = await upgraded.ledger.verify()

  expect(before.problems).toEqual([])
  expect(problems).toMatchObject([
    {
      accountId: null,
      entryId: null,
      message: 'A row that an earlier version wrote was changed, inserted or deleted after the upgrade.',
    },
  ])
})

test('books of earlier versions that are larger than a read are covered too', async () => {
  const { path, database } = aStoreOf(5)
  database.run(
    "INSERT INTO accounts VALUES (1, 'acct_1', 'ada', 0, 1); INSERT INTO balances (account_id) VALUES (1)",
  )
  database.run("INSERT INTO api_keys VALUES (1, 'key_1', 1, 'default', zeroblob(32), 'tg_', 1, NULL)")
  database.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
    INSERT INTO charges SELECT n, -n, 1, nullif(n - 1, 0), NULL, 1, 'chat', 'free', 'main', 1, 0, 0, 0, 1, 0, 0, 'reported', 0,
      NULL, 0, 0, n FROM numbers`)
  database.run('UPDATE balances SET latest_charge_id = 2500')
  database.close()

  const { ledger, database: upgraded } = aSqliteStore(path)

  expect(await ledger.verify()).toEqual({ problems: [], entries: 0, affected: [] })
  tamper({ database: upgraded }, 'UPDATE charges SET output = 2 WHERE id = 2000')
  const problems = (await ledger.verify()).problems.map(({ message }) => message)
  expect(problems).toEqual([
    expect.stringContaining('output tokens, but its charges add up to'),
    expect.stringContaining('an earlier version wrote was changed'),
  ])
})

test('jobs that an earlier version recorded stay readable, with their results and their history', async () => {
  const { path, database } = aStoreOf(9)
  database.run(JOBS_OF_0009)
  database.close()

  const { jobs } = aSqliteStore(path)

  const found = [await jobs.find({ key: 1n, tail: -1n }), await jobs.find({ key: 2n, tail: -2n })]
  expect(found).toMatchObject([
    {
      kind: 'image',
      state: 'completed',
      model: 'draw-1',
      request: { prompt: 'A', params: { aspect_ratio: '1:1' }, count: 2, images: [], videos: [] },
      quote: { kind: 'images', tariff: { perImage: 40n } },
      held: 80n,
      cost: 40n,
      outputs: [{ key: 'img_1/out-0', sha256: 'ab', bytes: 7, mediaType: 'image/png' }],
      archivedAtMs: null,
    },
    {
      kind: 'video',
      state: 'failed',
      upstreamId: 'text2video/7',
      request: { durationMs: 5000, images: [{ from: 'url', url: 'https://example.com/a.png' }] },
      quote: { kind: 'video', tariff: { perSecond: 100n }, heldMs: 8000 },
      failure: { reason: 'overdue', code: 'job_overdue', message: 'Late.' },
      watchUntilMs: 99,
    },
  ])
  expect(await jobs.history({ key: 1n, tail: -1n })).toEqual([
    { state: 'queued', detail: null, atMs: 5 },
    { state: 'completed', detail: null, atMs: 6 },
  ])
  expect((await jobs.list({ limit: 9 })).jobs.map(({ state }) => state)).toEqual(['failed', 'completed'])
})

test('losses that an earlier version booked are left out of what the account spent and was credited', async () => {
  const path = join(aDataFolder(), 'tollgate.db')
  const earlier = aSqliteStore(path)
  const ada = await anAccount(earlier, { funds: usd('10') })
  const ben = await anAccount(earlier, { funds: usd('10') })
  await jobIn('completed', earlier.jobs, aJob(ada, { requestId: null }))
  for (const loss of ['2', '0.5'])
    await earlier.jobs.fail((await jobIn('processing', earlier.jobs, aJob(ada, { requestId: null }))).id, {
      reason: 'result_lost',
      message: 'Lost.',
      loss: usd(loss),
      atMs: NOW + 9000,
    })
  await earlier.close()
  tamperFile(path, UNDO_SINCE_0020)

  const store = aSqliteStore(path)

  expect(await store.ledger.verify()).toMatchObject({ problems: [] })
  expect(await store.ledger.balance(ada.accountId)).toMatchObject({
    available: usd('7'),
    spent: { media: usd('3') },
    credited: usd('10'),
  })
  expect(await store.ledger.balance(ben.accountId)).toMatchObject({
    spent: { media: 0n },
    credited: usd('10'),
  })
  await store.close()
})

const UNDO_0026 = `
  DROP INDEX api_keys_by_project;
  ALTER TABLE api_keys DROP COLUMN project_id;
  DROP TABLE projects;
  DROP TABLE key_defaults;
`

const UNDO_ROTATION = `
  DROP TABLE api_key_secret_ends;
  DROP TABLE api_key_secrets;
  ALTER TABLE accounts DROP COLUMN first_name;
  ALTER TABLE accounts DROP COLUMN closed_at_ms;
`

const UNDO_0025 = ['charges', 'attempts', 'jobs']
  .map(table => `ALTER TABLE ${table} DROP COLUMN tags; ALTER TABLE ${table} DROP COLUMN user_id;`)
  .join('\n')

const UNDO_WEBHOOKS = `
  DROP TABLE balance_alerts;
  DROP TABLE webhook_messages;
  DROP TABLE webhook_events;
  DROP TABLE webhooks;
`

const UNDO_PRICE_LISTS = `
  DROP INDEX accounts_by_price_list;
  ALTER TABLE accounts DROP COLUMN price_list;
  DROP TABLE price_list_versions;
  DROP TABLE price_lists;
`

const UNDO_0024 = `
  ${UNDO_WEBHOOKS}
  ${UNDO_PRICE_LISTS}
  ${UNDO_0026}
  ${UNDO_ROTATION}
  ${UNDO_0025};
  DROP INDEX credits_by_token;
  ALTER TABLE credits DROP COLUMN token_id;
  ALTER TABLE credits DROP COLUMN token_day;
  DROP TABLE admin_tokens;
`

const UNDO_0037 = 'DROP INDEX operations_beside_charges; DROP INDEX mail_recipients_by_account;'

const UNDO_0036 = `
  ${UNDO_0037}
  DROP INDEX credits_by_user;
  ALTER TABLE credits DROP COLUMN by_user_id;
  ALTER TABLE credits DROP COLUMN by_user_day;
  DROP TABLE user_links;
  DROP TABLE user_sessions;
  DROP TABLE users;
  DELETE FROM migrations WHERE number >= 36;
`

const UNDO_0035 = `
  ${UNDO_0036}
  DROP TABLE mail_messages;
  DROP TABLE mail_recipients;
  DROP TABLE mail_state;
  DELETE FROM migrations WHERE number >= 35;
`

const UNDO_0034 = `
  ${UNDO_0035}
  DROP TABLE provider_alerts;
  DROP INDEX api_keys_by_expiry;
  DROP TABLE expiry_alerts;
  DROP TABLE job_alerts;
  DROP TABLE budget_alerts;
  DELETE FROM migrations WHERE number >= 34;
`

const UNDO_0033 = `
  ${UNDO_0034}
  DROP INDEX jobs_by_request;
  DELETE FROM migrations WHERE number >= 33;
`

/** Charges stay in `usage_days`, without the costs of their providers. */
const UNDO_0032 = `
  ${UNDO_0033}
  DROP INDEX attempts_not_sold;
  DROP INDEX jobs_not_sold;
  ALTER TABLE usage_days DROP COLUMN provider_cost;
  ALTER TABLE usage_days DROP COLUMN charges_without_cost;
  ALTER TABLE usage_rebuild DROP COLUMN costs_after;
  ALTER TABLE usage_rebuild DROP COLUMN costs_to;
  DELETE FROM migrations WHERE number >= 32;
`

/** The sums of days go back to the table of migration 0014. */
const UNDO_0023 = `
  ${UNDO_0032}
  ${UNDO_0024}
  DROP VIEW account_days;
  INSERT INTO usage_days_by_account SELECT day, account_id, min(first_charge_id), max(latest_charge_id), sum(charges),
    sum(input_tokens), sum(output_tokens), sum(images), sum(duration_ms), sum(cost) FROM usage_days GROUP BY day, account_id;
  DROP TABLE usage_days;
  ALTER TABLE usage_days_by_account RENAME TO usage_days;
  DROP TABLE usage_rebuild;
  DROP TABLE limits;
  ALTER TABLE api_keys DROP COLUMN first_name;
  ALTER TABLE api_keys DROP COLUMN disabled_at_ms;
  ALTER TABLE api_keys DROP COLUMN settings;
  ALTER TABLE api_keys DROP COLUMN last_used_day;
  DELETE FROM migrations WHERE number >= 23;
`

const UNDO_SINCE_0020 = `
  ${UNDO_0023}
  DROP INDEX refunds_by_time;
  DROP INDEX refunds_by_account;
  DROP INDEX job_keys_by_job;
  DROP INDEX audit_log_by_revision;
  DROP INDEX provider_versions_by_revision;
  DROP INDEX model_versions_by_revision;
  ALTER TABLE jobs DROP COLUMN request_key;
  ALTER TABLE jobs DROP COLUMN request_tail;
  ALTER TABLE balances DROP COLUMN booked_losses;
  ALTER TABLE audit_log DROP COLUMN revision;
  ALTER TABLE audit_log DROP COLUMN history_sha256;
  DELETE FROM migrations WHERE number >= 20;
`

test('the sums of earlier charges are moved in turns while others are charged, and are right at any moment', async () => {
  const path = join(aDataFolder(), 'tollgate.db')
  const earlier = aSqliteStore(path)
  const ada = await anAccount(earlier, { funds: usd('1000') })
  await Promise.all(Array.from({ length: 600 }, () => chargeOne(earlier, ada)))
  await earlier.close()
  tamperFile(path, UNDO_0023)
  const store = aSqliteStore(path)
  const spentNow = async () => (await store.ledger.usageTotals(ada.accountId, ON_THE_DAY)).cost

  const before = await spentNow()
  const done = store.finishUpgrade()
  await chargeOne(store, ada)
  const during = await spentNow()
  const problems = (await store.ledger.verify()).problems
  await done

  expect([before, during, await spentNow()]).toEqual([usd('600'), usd('601'), usd('601')])
  expect([...problems, ...(await store.ledger.verify()).problems]).toEqual([])
  expect(isUsageRebuilt(store.database)).toBe(true)
  expect(store.database.query('SELECT sum(charges) AS charges FROM usage_days').get()).toEqual({
    charges: 601n,
  })
  expect(store.database.query('SELECT * FROM usage_days_by_account').all()).toEqual([])
  await store.close()
})

test('the costs of earlier charges are added to their days in turns while others are charged, and no report has a part of them', async () => {
  const path = join(aDataFolder(), 'tollgate.db')
  const earlier = aSqliteStore(path)
  const ada = await anAccount(earlier, { funds: usd('1000') })
  await Promise.all(
    Array.from({ length: 600 }, (_, index) => chargeOne(earlier, ada, index % 2 === 0 ? usd('0.25') : null)),
  )
  await earlier.close()
  tamperFile(path, UNDO_0032)
  const store = aSqliteStore(path)
  const usageNow = () => store.ledger.usageOfDay(Math.floor(NOW / 86_400_000))
  const totalsNow = () => store.ledger.usageTotals(ada.accountId, ON_THE_DAY)

  const refusal = await usageNow().catch((error: unknown) => error)
  const before = await totalsNow()
  const done = store.finishUpgrade()
  await chargeOne(store, ada, usd('0.25'))
  const during = await totalsNow()
  const { problems } = await store.ledger.verify()
  await done

  expect(refusal).toMatchObject({ code: 'unavailable' })
  expect(await usageNow()).toMatchObject([
    { charges: 601, cost: usd('601'), providerCost: usd('75.25'), chargesWithoutCost: 300 },
  ])
  // The totals of an account are read charge by charge until then.
  expect(before).toMatchObject({ charges: 600, providerCost: usd('75'), chargesWithoutCost: 300 })
  expect(during).toMatchObject({ charges: 601, providerCost: usd('75.25'), chargesWithoutCost: 300 })
  expect(await totalsNow()).toEqual(during)
  expect([...problems, ...(await store.ledger.verify()).problems]).toEqual([])
  await store.close()
})

const ON_THE_DAY = { fromMs: 0, toMs: NOW + 86_400_000 }

async function chargeOne(
  store: TestSqlite,
  { accountId, apiKeyId }: Awaited<ReturnType<typeof anAccount>>,
  providerCost: NanoUsd | null = null,
) {
  const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
  await store.ledger.captureHold(held, { ...aCharge(apiKeyId, { tokens: 1 }), providerCost })
}

test('the database itself refuses refunds above their charge', () => {
  const { database } = aStoreOf(99)
  database.run('PRAGMA foreign_keys = OFF')
  const refund = (id: number, amount: number) =>
    database.run(
      `INSERT INTO corrections VALUES (${id}, ${id}, ${id}, 1, ${id}, 7, ${amount}, NULL, NULL, 0, 1)`,
    )
  database.run(`INSERT INTO charges (id, id_key, id_tail, account_id, api_key_id, route, model, provider, input, cached_input,
      cache_write, audio_input, output, reasoning, audio_output, is_clamped, cost, shortfall, at_ms)
    VALUES (7, 7, 7, 1, 1, 'chat', 'gpt-x', 'main', 1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 1)`)
  refund(1, 4)
  refund(2, 6)

  expect(() => refund(3, 1)).toThrow('refunds never exceed their charge')
})

/** A completed image job and a failed video job. */
const JOBS_OF_0009 = `
  INSERT INTO accounts VALUES (1, 'acct_1', 'ada', 0, 1);
  INSERT INTO api_keys VALUES (1, 'key_1', 1, 'default', zeroblob(32), 'tg_', 1, NULL);
  INSERT INTO jobs (row_id, id_key, id_tail, kind, state, account_id, api_key_id, route, model, provider, upstream_model,
      request, quote, held, node, created_at_ms, changed_at_ms, submitted_at_ms, next_poll_at_ms, deadline_at_ms,
      job_deadline_at_ms, outputs, cost)
    VALUES (1, 1, -1, 'image', 'completed', 1, 1, 'images', 'draw-1', 'pics', 'draw/v1',
      '{"prompt":"A","params":{"aspect_ratio":"1:1"},"count":2,"images":[],"videos":[]}', '{"per_image":"40"}', 80, 'main',
      5, 6, 5, 5, 90, 90, '[{"key":"img_1/out-0","sha256":"ab","bytes":7,"mediaType":"image/png"}]', 40);
  INSERT INTO jobs (row_id, id_key, id_tail, kind, state, account_id, api_key_id, route, model, provider, upstream_model,
      request, quote, held, node, created_at_ms, changed_at_ms, submitted_at_ms, upstream_id, next_poll_at_ms,
      deadline_at_ms, job_deadline_at_ms, failure_reason, failure_code, failure_message, watch_until_ms)
    VALUES (2, 2, -2, 'video', 'failed', 1, 1, 'videos', 'film', 'films', 'film/v1',
      '{"prompt":"A","params":{},"count":1,"durationMs":5000,"images":[{"from":"url","url":"https://example.com/a.png"}],"videos":[]}',
      '{"per_second":"100","held_ms":8000}', 800, 'main', 5, 90, 5, 'text2video/7', 5, 90, 90, 'overdue', 'job_overdue', 'Late.', 99);
  INSERT INTO job_events (job, state, detail, at_ms) VALUES (1, 'queued', NULL, 5), (1, 'completed', NULL, 6);
`

/** A credit of 100, a text charge of 30, a media hold of 10 of which 6 were charged, and a released one of 10. */
const BOOKS_BEFORE_0005 = `
  INSERT INTO accounts VALUES (1, 'acct_1', 'ada', 0, 1);
  INSERT INTO api_keys VALUES (1, 'key_1', 1, 'default', zeroblob(32), 'tg_', 1, NULL);
  INSERT INTO operations VALUES
    (1, NULL, 1, 'top_up', 11, -11, 100, 1), (2, 1, 1, 'charge', 12, -12, -30, 2), (3, 2, 1, 'hold', 13, -13, -10, 3),
    (4, 3, 1, 'capture', 13, -13, 4, 4), (5, 4, 1, 'hold', 14, -14, -10, 5), (6, 5, 1, 'release', 14, -14, 10, 6);
  INSERT INTO entries (operation_id, book, amount, balance_after) VALUES
    (1, 'cash', -100, -100), (1, 'available', 100, 100),
    (2, 'available', -30, 70), (2, 'revenue.text', 30, 30),
    (3, 'available', -10, 60), (3, 'held.media', 10, 10),
    (4, 'held.media', -6, 4), (4, 'revenue.media', 6, 6), (4, 'held.media', -4, 0), (4, 'available', 4, 64),
    (5, 'available', -10, 54), (5, 'held.media', 10, 10),
    (6, 'held.media', -10, 0), (6, 'available', 10, 64);
  INSERT INTO credits VALUES (11, -11, 1, 1, 100, 'cash', NULL, NULL, 100);
  INSERT INTO holds VALUES
    (13, -13, 1, 'media', 10, 'captured', 3, 4, 3, 4), (14, -14, 1, 'media', 10, 'released', 5, 6, 5, 6);
  INSERT INTO charges VALUES
    (12, -12, 1, NULL, 2, 1, 'chat', 'gpt-x', 'main', 3, 0, 0, 0, 4, 0, 0, 'reported', 0, NULL, 30, 0, 2),
    (13, -13, 1, 12, 4, 1, 'images', 'draw', 'main', 0, 0, 0, 0, 0, 0, 0, 'reported', 0, NULL, 6, 0, 4);
  INSERT INTO balances VALUES (1, 64, 0, 0, -100, 0, 30, 6, 0, 6, 13);
`

/**
 * Account 1: a credit of 100, text charges of 30, 0 and 7 (the last with the smallest id), a media hold of 10 of which
 * 6 were charged, and an open one of 3. Account 2: a credit of 50 and a text charge of 5. And a billed attempt.
 */
const BOOKS_BEFORE_0006 = `
  INSERT INTO accounts VALUES (1, 'acct_1', 'ada', 0, 1), (2, 'acct_2', 'ben', 0, 1);
  INSERT INTO api_keys VALUES (1, 'key_1', 1, 'default', zeroblob(32), 'tg_', 1, NULL),
    (2, 'key_2', 2, 'default', randomblob(32), 'tg_', 1, NULL);
  INSERT INTO operations VALUES
    (1, NULL, 1, 'top_up', 5, -5, 100, 1, 'cash', -100, -100, 'available', 100, 100, NULL, NULL, NULL),
    (2, NULL, 2, 'top_up', 6, -6, 50, 2, 'cash', -50, -50, 'available', 50, 50, NULL, NULL, NULL),
    (3, 1, 1, 'charge', 12, -12, -30, 3, 'available', -30, 70, 'revenue.text', 30, 30, NULL, NULL, NULL),
    (4, 2, 2, 'charge', 21, -21, -5, 4, 'available', -5, 45, 'revenue.text', 5, 5, NULL, NULL, NULL),
    (5, 3, 1, 'charge', 10, -10, -7, 5, 'available', -7, 63, 'revenue.text', 7, 37, NULL, NULL, NULL),
    (6, 5, 1, 'hold', 13, -13, -10, 6, 'available', -10, 53, 'held.media', 10, 10, NULL, NULL, NULL),
    (7, 6, 1, 'capture', 13, -13, 4, 7, 'held.media', -10, 0, 'revenue.media', 6, 6, 'available', 4, 57),
    (8, 7, 1, 'hold', 14, -14, -3, 8, 'available', -3, 54, 'held.media', 3, 3, NULL, NULL, NULL);
  INSERT INTO credits VALUES (5, -5, 1, 1, 100, 'cash', 'hello', 'code-1', 100),
    (6, -6, 2, 2, 50, 'cash', NULL, NULL, 50);
  INSERT INTO holds VALUES (13, -13, 1, 'media', 10, 'captured', 6, 7, 6, 7),
    (14, -14, 1, 'media', 3, 'open', 8, NULL, 8, NULL);
  INSERT INTO charges VALUES
    (12, -12, 1, NULL, 3, 1, 'chat', 'gpt-x', 'main', 3, 0, 0, 0, 4, 0, 0, 'reported', 0, NULL, 30, 0, 3),
    (11, -11, 1, 12, NULL, 1, 'chat', 'free', 'main', 3, 0, 0, 0, 4, 0, 0, 'reported', 0, NULL, 0, 0, 4),
    (21, -21, 2, NULL, 4, 2, 'chat', 'gpt-x', 'main', 1, 0, 0, 0, 1, 0, 0, 'estimated', 0, NULL, 5, 2, 4),
    (10, -10, 1, 11, 5, 1, 'chat', 'gpt-x', 'main', 1, 0, 0, 0, 1, 0, 0, 'reported', 0, NULL, 7, 0, 5),
    (13, -13, 1, 10, 7, 1, 'images', 'draw', 'main', 0, 0, 0, 0, 0, 0, 0, 'reported', 0, NULL, 6, 0, 7);
  INSERT INTO attempts VALUES
    (30, -30, 2, 1, 1, 'chat', 'gpt-x', 'main', 'billed', 1, 0, 0, 0, 1, 0, 0, NULL, 4, 0, NULL, 9);
  INSERT INTO balances VALUES (1, 54, 0, 3, -100, 0, 37, 6, 0, 8, 13), (2, 45, 0, 0, -50, 0, 5, 0, 0, 4, 21);
`
