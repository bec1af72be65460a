import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { rawConnection } from '../../../src/http1/testing/raw-http.ts'
import { chatModel, UPSTREAM_KEY } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

let upstream: Upstream
let gateway: GatewayProcess
let key: string

beforeEach(async () => {
  upstream = startUpstream()
  const dataDir = aDataFolder()
  const main = {
    id: 'main',
    kind: 'openai-compatible',
    base_url: upstream.baseUrl,
    api_key: UPSTREAM_KEY,
    retries: 0,
  }
  writeFileSync(
    join(dataDir, 'catalog.yaml'),
    JSON.stringify({ providers: [main], models: [chatModel('gpt-x')] }),
  )
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_CATALOG: join(dataDir, 'catalog.yaml'),
    TOLLGATE_REPLAY_TTL_S: '0',
  })
  await admin('accounts', { name: 'ada' })
  await admin('accounts/ada/grants', { amount_usd: '1' })
  key = (await admin<{ key: string }>('accounts/ada/keys', {})).key
})
afterEach(async () => {
  await gateway.kill()
  upstream.close()
})

async function admin<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

function ask(model = 'gpt-x', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'a secret question' }] }),
  })
}

type Line = Readonly<Record<string, unknown>> & { readonly message: string; readonly level: string }

/** The whole log lines so far. */
function logged(): readonly Line[] {
  const lines = gateway.output().split('\n').slice(0, -1)
  return lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line) as Line)
}

test('SIGTERM waits for a running request, accepts no new one, and exits with 0, even if it is repeated', async () => {
  const taken = upstream.hold()
  const asked = ask()
  const exchange = await taken

  const stopped = gateway.stop()
  await until('it takes no new connection', () => fetch(`${gateway.url}/health/live`).then(isNot, isSo))
  const stoppedAgain = gateway.stop()
  await chatAnswer()(exchange)
  const response = await asked

  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ usage: { cost_usd: '0.00007' } })
  expect(await stopped).toBe(0)
  expect(await stoppedAgain).toBe(0)
  expect(logged().at(-1)).toMatchObject({ level: 'info', message: 'stopped' })
})

const isNot = () => false
const isSo = () => true

test('the log line of a read names the account and its key', async () => {
  const read = await fetch(`${gateway.url}/v1/balance`, { headers: { 'x-api-key': key } })
  const id = read.headers.get('x-request-id')
  await until('the read is logged', () => logged().some(line => line['request_id'] === id))

  expect(logged().find(line => line['request_id'] === id)).toMatchObject({
    route: 'balance',
    account: expect.stringMatching(/^acct_/),
    api_key: expect.stringMatching(/^key_/),
  })
})

test('each request has one log line with its usage and cost, and without secrets', async () => {
  upstream.reply(chatAnswer())
  const answered = await ask('vendor/gpt-x', { 'x-client-request-id': 'mine-1' })
  const named = await ask('gpt-x', { 'x-request-id': `mine-2-${'x'.repeat(200)}` })
  upstream.reply(chatAnswer({ usage: { prompt_tokens: -1, completion_tokens: 5 } }))
  const clamped = await ask()
  const unknown = await ask('gpt-y')
  const keyless = await fetch(`${gateway.url}/v1/chat/completions?key=${key}`, { method: 'POST' })
  await fetch(`${gateway.url}/health/live`)
  const disconnecting = rawConnection(gateway.url)
  await disconnecting.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Length: 9\r\n\r\n{`,
  )
  await fetch(`${gateway.url}/health/live`)
  disconnecting.leave()
  await until('the client that left is logged', () => logged().some(({ status }) => status === 499))

  const lines = logged().filter(({ message, route }) => message === 'request' && route !== 'admin')
  const id = (response: Response) => response.headers.get('x-request-id')
  expect(lines.slice(0, 1)).toMatchObject([
    {
      level: 'info',
      request_id: id(answered),
      client_request_id: 'mine-1',
      route: 'chat',
      status: 200,
      model: 'gpt-x',
      provider: 'main',
      upstream_status: 200,
      input_tokens: 10,
      output_tokens: 5,
      usage_source: 'reported',
      cost_usd: '0.00007',
    },
  ])
  expect(lines[1]).toMatchObject({ request_id: id(named), client_request_id: `mine-2-${'x'.repeat(121)}` })
  expect(lines[2]).toMatchObject({ request_id: id(clamped), is_clamped: true, input_tokens: 0 })
  expect(lines[3]).toMatchObject({ request_id: id(unknown), status: 404, error_code: 'model_not_found' })
  expect(lines[4]).toMatchObject({ request_id: id(keyless), status: 401, error_code: 'invalid_api_key' })
  expect(lines[5]).toMatchObject({ route: 'chat', status: 499, client_disconnected: true })
  expect(lines[5]).not.toHaveProperty('error_code')
  expect(lines).toHaveLength(6)
  const ids = lines.map(({ account, api_key }) => `${String(account)} ${String(api_key)}`)
  expect(ids[0]).toMatch(/^acct_\w+ key_\w+$/)
  expect(ids).toEqual([ids[0]!, ids[0]!, ids[0]!, ids[0]!, 'undefined undefined', ids[0]!])
  for (const secret of [key, UPSTREAM_KEY, 'a secret question', 'Hello.'])
    expect(JSON.stringify(logged())).not.toContain(secret)
})

test('the fault of a client is logged as info without a stack, and the fault of a provider as a warning', async () => {
  const asked = (body: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { 'x-api-key': key }, body })
  upstream.reply(json({}, { status: 500 }))
  const malformed = await asked('{"model": ')
  const unanswered = await asked('{"model": "gpt-x", "messages": [{"role": "user", "content": "Hi"}]}')
  const ids = [malformed, unanswered].map(response => response.headers.get('x-request-id'))
  await until('both are logged', () => logged().some(line => line['request_id'] === ids[1]))

  expect(logged().filter(line => ids.includes(String(line['request_id'])))).toMatchObject([
    { level: 'info', message: 'request', status: 400, error_code: 'invalid_json' },
    { level: 'warn', message: 'request', status: 502, error_code: 'upstream_error' },
  ])
})
