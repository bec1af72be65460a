import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openAdmin } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { startUpstream, type Exchange, type Upstream } from '../../support/upstream.ts'
import { chatModel } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const ADMIN_KEY = 'tg_admin_killed_late'
/** Ten input tokens at 2 USD and five output tokens at 10 USD per million. */
const COST = '0.00007'

let dataDir: string
let main: Upstream
let spare: Upstream
let gateway: GatewayProcess

beforeEach(() => {
  main = startUpstream()
  spare = startUpstream()
  dataDir = aDataFolder()
  const row = (id: string, baseUrl: string) => ({ id, kind: 'openai-compatible', base_url: baseUrl })
  const catalog = {
    providers: [row('main', main.baseUrl), row('spare', spare.baseUrl)],
    models: [
      chatModel('gpt-x', {
        upstreams: [
          { provider: 'main', model: 'a', order: 1 },
          { provider: 'spare', model: 'b', order: 2 },
        ],
      }),
    ],
  }
  writeFileSync(join(dataDir, 'catalog.json'), JSON.stringify(catalog))
})
afterEach(async () => {
  await gateway.kill()
  main.close()
  spare.close()
})

/** The reconciler runs only at the start. The read timeout passes immediately, unless set otherwise. */
async function start(readTimeoutS = '0.05'): Promise<void> {
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_READ_TIMEOUT_S: readTimeoutS,
    TOLLGATE_RECONCILE_EVERY_S: '86400',
    TOLLGATE_LOG_LEVEL: 'error',
  })
}

async function admin<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

async function makeAda(): Promise<string> {
  await admin('POST', 'accounts', { name: 'ada' })
  await admin('POST', 'accounts/ada/grants', { amount_usd: '10' })
  return (await admin<{ key: string }>('POST', 'accounts/ada/keys', {})).key
}

function ask(key: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }),
  })
}

/** A request that got its 504 while the upstream call continues. */
async function timedOut(): Promise<{ readonly ref: string; readonly exchange: Exchange }> {
  await start()
  const key = await makeAda()
  const taken = main.hold()
  const response = await ask(key)
  if (response.status !== 504) throw new Error(`A 504 was expected, and ${response.status} came.`)
  return { ref: response.headers.get('x-request-id')!, exchange: await taken }
}

/** Its late answer arrives and is stored. */
async function answered(exchange: Exchange): Promise<void> {
  await chatAnswer()(exchange)
  await until('no late call is waited for', async () => {
    const metrics = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    })
    return (await metrics.text()).includes('\ntollgate_late_calls 0\n')
  })
}

async function expectCompensatedOnce(ref: string): Promise<void> {
  const { data } = await admin<{ data: object[] }>('GET', 'accounts/ada/statement')
  expect(data).toMatchObject([
    { kind: 'compensation', amount_usd: COST, ref },
    { kind: 'charge', amount_usd: `-${COST}`, ref },
    { kind: 'grant', amount_usd: '10' },
  ])
  expect(await admin('GET', 'accounts/ada')).toMatchObject({ available_usd: '10', held_usd: '0' })
  expect(await admin('POST', 'verify')).toMatchObject({ ok: true })
}

describe('kill -9', () => {
  test('after kill -9 between a late answer and its settlement, the next start charges and credits it once', async () => {
    const { ref, exchange } = await timedOut()
    await answered(exchange)

    await gateway.kill()
    await start()
    await until('the start has reconciled', async () => {
      const { data } = await admin<{ data: object[] }>('GET', 'accounts/ada/statement')
      return data.length > 1
    })
    await gateway.kill()
    await start()
    await admin('POST', 'reconcile')

    await expectCompensatedOnce(ref)
  })

  test('after kill -9 between a late answer and its settlement, the command settles it without a server', async () => {
    const { ref, exchange } = await timedOut()
    await answered(exchange)
    await gateway.kill()

    const stopped = await openAdmin(readConfig({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: 'silent' }))
    const pass = await stopped.handle(new Request('http://localhost/admin/api/reconcile', { method: 'POST' }))
    await stopped.close()
    await start()

    expect(await pass.json()).toEqual({
      has_run: true,
      compensated: 1,
      compensated_usd: COST,
      closed: 0,
      expired: 0,
      jobs: expect.objectContaining({ failed: 0 }) as object,
      failed: 0,
    })
    await expectCompensatedOnce(ref)
  })

  test('a late answer is lost and free after kill -9 before it', async () => {
    const { exchange } = await timedOut()

    await gateway.kill()
    await exchange.closed
    await start()
    const pass = await admin('POST', 'reconcile')

    expect(pass).toMatchObject({ compensated: 0 })
    expect((await admin<{ data: object[] }>('GET', 'accounts/ada/statement')).data).toHaveLength(1)
    expect(await admin('GET', 'accounts/ada')).toMatchObject({ available_usd: '10', held_usd: '0' })
    expect(await admin('POST', 'verify')).toMatchObject({ ok: true })
  })
})

test('an empty answer that was replaced by failover is stored with its usage, and is not in the ledger', async () => {
  main.reply(
    chatAnswer({ content: '', usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } }),
  )
  await start('30')
  const key = await makeAda()
  const response = await ask(key)
  await gateway.stop()

  const database = new Database(join(dataDir, 'tollgate.db'), { readonly: true })
  const attempts = database.query('SELECT number, provider, state, input, output, cost FROM attempts').all()
  const charges = database.query('SELECT provider, input, output FROM charges').all()
  database.close()

  expect(response.status).toBe(200)
  expect(attempts).toEqual([
    { number: 1, provider: 'main', state: 'abandoned', input: 10, output: 2, cost: null },
  ])
  expect(charges).toEqual([{ provider: 'spare', input: 10, output: 5 }])
})
