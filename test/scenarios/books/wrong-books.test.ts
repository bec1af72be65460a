import { join } from 'node:path'
import { afterEach, expect, test } from 'bun:test'
import { startApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { checkedHandler } from '../../support/checked-handler.ts'
import { aDataFolder } from '../../support/data-folder.ts'
import { tamperFile } from '../../support/tamper.ts'
import { until } from '../../support/until.ts'

type App = Awaited<ReturnType<typeof startApp>>
type Verified = {
  ok: boolean
  problems: { id: string; concerns: string; accepted: boolean; message: string }[]
}

const ADMIN_KEY = 'tg_admin_for_tests'

let running: App | undefined

/** The replies that differ from the OpenAPI document. */
const undescribed: string[] = []

afterEach(async () => {
  await running?.stop()
  expect(undescribed).toEqual([])
})

async function start(dataDir: string): Promise<App> {
  running = await startApp(
    readConfig({
      TOLLGATE_PORT: '0',
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_LOG_LEVEL: 'silent',
      TOLLGATE_REPLAY_TTL_S: '0',
    }),
    {
      aroundHandler: checkedHandler(
        { brand: 'service', isOpenAiMediaOn: false, consolePath: 'off' },
        undescribed,
      ),
    },
  )
  return running
}

async function admin<Answer>({ url }: App, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer
}

async function customer(app: App, name: string): Promise<string> {
  await admin(app, 'POST', 'accounts', { name })
  await admin(app, 'POST', `accounts/${name}/grants`, { amount_usd: '5' })
  return (await admin<{ key: string }>(app, 'POST', `accounts/${name}/keys`, {})).key
}

function post({ url }: App, key: string, path: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const CHAT = { model: 'sandbox-chat', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
const IMAGE = { model: 'sandbox-image', prompt: 'A red fox' }

/** The statuses of a chat request, an image request and a read of the balance. */
async function statuses(app: App, key: string): Promise<readonly number[]> {
  const balance = await fetch(`${app.url}/v1/balance`, { headers: { authorization: `Bearer ${key}` } })
  const chat = await post(app, key, 'chat/completions', CHAT)
  const image = await post(app, key, 'images/generations', IMAGE)
  return [chat.status, image.status, balance.status]
}

/** Restarts a gateway on a folder that another program edited, and waits for its first check. */
async function restartedAfter(edit: string) {
  const dataDir = aDataFolder()
  const before = await start(dataDir)
  const keys = { ada: await customer(before, 'ada'), ben: await customer(before, 'ben') }
  await before.stop()
  tamperFile(join(dataDir, 'tollgate.db'), edit)
  const app = await start(dataDir)
  const metrics = async () =>
    (await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).text()
  await until('the books are checked', async () =>
    (await metrics()).includes('checks_total{result="broken"} 1'),
  )
  const isReady = async () => (await fetch(`${app.url}/health/ready`)).status
  return { app, dataDir, isReady, ...keys, metrics }
}

const OF_ADA =
  "UPDATE balances SET losses = 7 WHERE account_id = (SELECT id FROM accounts WHERE name = 'ada')"

test('an account whose books are wrong is refused until its problem is accepted, and others are served', async () => {
  const { app, dataDir, isReady, ada, ben, metrics } = await restartedAfter(OF_ADA)

  const before = [await statuses(app, ada), await statuses(app, ben), await isReady()]
  const refusal = await post(app, ada, 'chat/completions', CHAT)
  const stopped = await metrics()
  const found = await admin<Verified>(app, 'POST', 'verify')
  const { id } = found.problems[0]!
  const accepted = await admin<Verified>(app, 'POST', 'verify', { accept: id, reason: 'a test edit' })
  const after = await statuses(app, ada)
  const audit = await admin<{ data: object[] }>(app, 'GET', 'audit')
  await app.stop()
  const restarted = await start(dataDir)
  await admin<Verified>(restarted, 'POST', 'verify')
  const later = await statuses(restarted, ada)

  expect(before).toEqual([[503, 503, 200], [200, 200, 200], 200])
  expect(refusal.headers.get('x-should-retry')).toBe('false')
  expect(await refusal.json()).toMatchObject({ error: { code: 'books_inconsistent', type: 'server_error' } })
  expect(stopped).toContain('tollgate_stopped_accounts 1\n')
  expect(found).toMatchObject({ ok: false, problems: [{ concerns: 'account', accepted: false }] })
  expect(found.problems[0]!.message).toMatch(/^Account "ada" \(acct_\w+\): "losses" is 0.000000007 USD/)
  expect(accepted).toMatchObject({ ok: true, problems: [{ id, accepted: true }] })
  expect(after).toEqual([200, 200, 200])
  expect(audit.data).toContainEqual(
    expect.objectContaining({
      action: 'books.accept',
      subject: id,
      detail: expect.stringContaining('a test edit ('),
    }),
  )
  expect(later).toEqual([200, 200, 200])
})

test('a broken commit chain stops every account, until it is accepted', async () => {
  const { app, isReady, ada, ben } = await restartedAfter(
    'UPDATE commits SET hash = zeroblob(32) WHERE id = 2',
  )

  const before = [await statuses(app, ada), await statuses(app, ben), await isReady()]
  const { problems } = await admin<Verified>(app, 'POST', 'verify')
  for (const { id } of problems) await admin(app, 'POST', 'verify', { accept: id, reason: 'a test edit' })
  const after = [await statuses(app, ada), await statuses(app, ben), await isReady()]

  expect(before).toEqual([[503, 503, 200], [503, 503, 200], 503])
  expect(problems.map(({ concerns }) => concerns)).toContain('everything')
  expect(after).toEqual([[200, 200, 200], [200, 200, 200], 200])
})

test.each([
  [{ accept: 'p_000000000000', reason: 'x' }, 'not_found'],
  [{ accept: 'anchor', reason: 'x' }, 'not_found'],
  [{ accept: 'p_000000000000' }, 'invalid_field'],
  [{ reason: 'x' }, 'invalid_field'],
  [{ accept: 'p_000000000000', reason: ' ' }, 'invalid_field'],
])('a problem is accepted by its id, with a reason: %p is refused', async (body, code) => {
  const app = await start(aDataFolder())

  const refused = await admin<object>(app, 'POST', 'verify', body)

  expect(refused).toMatchObject({ error: { code } })
})

test.each([
  [
    'without its row of balances',
    `DELETE FROM balances WHERE account_id = (SELECT id FROM accounts WHERE name = 'ada')`,
  ],
  [
    'with limits that cannot be read',
    `INSERT INTO limits SELECT id, 'account', id, '', 'none' FROM accounts WHERE name = 'ada'`,
  ],
])('an account %s starts no paid work, and the requests of others and reads are served', async (_, edit) => {
  const { app, ada, ben } = await restartedAfter(edit)
  const models = (key: string) =>
    fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })

  const refused = await post(app, ada, 'chat/completions', CHAT)
  const [, image] = await statuses(app, ada)
  const read = await models(ada)

  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    error: { code: 'books_inconsistent', message: expect.stringContaining('The books of this account') },
  })
  expect([image, read.status]).toEqual([503, 200])
  expect(await statuses(app, ben)).toEqual([200, 200, 200])
})
