import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway } from '../../support/gateway.ts'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

type Row = Readonly<Record<string, unknown>>

let gateway: ScriptedGateway
let ada: { readonly key: string }

beforeAll(async () => {
  const upstreams = [{ provider: 'main', model: 'x', cost: { input_per_mtok: '1', output_per_mtok: '5' } }]
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x', { upstreams }),
      chatModel('gone', { upstreams: [{ provider: 'keyless', model: 'x' }] }),
    ],
    providers: base_url => [
      { id: 'keyless', kind: 'openai-compatible', base_url, api_key: 'env:NOT_SET_ANYWHERE' },
    ],
    environment: { TOLLGATE_REQUEST_RECORDS_DAYS: '7' },
  })
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

const ask = () => gateway.chat(ada.key, { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] })

test('the overview has the money of today, requests, jobs, held money, books and alerts', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  gateway.upstream.reply(chatAnswer({ usage }))
  await ask()
  await gateway.admin('POST', 'verify')

  const overview = await gateway.admin<Row>('GET', 'overview')

  expect(overview).toMatchObject({
    today: { charges: 1, revenue_usd: '0.003', provider_cost_usd: '0.0015', margin_usd: '0.0015' },
    last_30_days: { charges: 1 },
    requests_24_hours: { requests: 1, errors: 0 },
    circuits: [],
    open_jobs: { queued: 0, processing: 0, unknown_submit: 0 },
    held_usd: { text: '0', media: '0' },
    books: { accepts_paid_work: true, stopped_because: null, last_check: { open_problems: 0 } },
  })
  expect(JSON.stringify(overview['alerts'])).toContain('NOT_SET_ANYWHERE')
})

test('a provider that fails has an open circuit and its failures, and the overview tells', async () => {
  gateway.upstream.reply(json({ error: { message: 'Down.' } }, { status: 503 }))
  for (let times = 0; times < 3; times += 1) await ask()

  const { data } = await gateway.admin<{ data: readonly Row[] }>('GET', 'provider-states')
  const overview = await gateway.admin<{ alerts: readonly Row[] }>('GET', 'overview')

  expect(data.find(({ provider }) => provider === 'main')).toMatchObject({
    state: 'open',
    circuits: [{ model: 'x', state: 'open', failures: 3 }],
    recent_failures: [{ model: 'x', reason: 'server' }, { reason: 'server' }, { reason: 'server' }],
  })
  expect(data.find(({ provider }) => provider === 'keyless')).toMatchObject({ state: 'healthy' })
  expect(overview.alerts).toContainEqual({
    kind: 'circuit',
    message: '"x" of the provider "main" failed 3 times in a row. No other upstream serves "gpt-x".',
  })
})

test('a test of a provider says whether it works, without its key, and leaves an audit line', async () => {
  const tested = await gateway.admin<Row>('POST', 'providers/keyless/test')
  const { data } = await gateway.admin<{ data: readonly Row[] }>('GET', 'audit?action=provider.test&limit=1')

  expect(tested).toMatchObject({ provider: 'keyless', ok: false })
  expect(tested['detail']).toContain('NOT_SET_ANYWHERE')
  expect(data).toMatchObject([{ action: 'provider.test', subject: 'keyless', detail: 'failed' }])
})

test('the settings have their source, and secrets are not shown', async () => {
  const { data } = await gateway.admin<{ data: readonly Row[] }>('GET', 'settings')

  expect(data.find(({ name }) => name === 'TOLLGATE_REQUEST_RECORDS_DAYS')).toMatchObject({ default: '7' })
  expect(data.find(({ name }) => name === 'TOLLGATE_ADMIN_KEY')).toMatchObject({ default: null })
  expect(data.map(({ source }) => source)).toContain('default')
})

test('an account is found by a part of its name', async () => {
  const { data } = await gateway.admin<{ data: readonly Row[] }>('GET', 'accounts?search=COUNT')

  expect(data.length).toBeGreaterThan(0)
})

test('GET verify shows the last check of the books, and that none runs', async () => {
  const gateway = await startTestGateway()
  const before = await gateway.admin<object>('GET', 'verify')

  const checked = await gateway.admin<object>('POST', 'verify')
  const after = await gateway.admin<object>('GET', 'verify')
  await gateway.stop()

  expect(before).toEqual({ running: null, last: null })
  expect(after).toEqual({
    running: null,
    last: { started_at: expect.any(String) as string, ended_at: expect.any(String) as string, ...checked },
  })
})
