import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts'
import { until } from './until.ts'
import { videoModel } from './video-gateway.ts'

const ADMIN_KEY = 'tg_admin_killed_videos'

let dataDir: string
let gateway: GatewayProcess
/** A site with inputs, and a provider. It never answers, except to polls. */
let site: ReturnType<typeof Bun.serve>
let requests: string[]

beforeEach(async () => {
  requests = []
  site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ method, url }) {
      requests.push(`${method} ${new URL(url).pathname}`)
      const isPoll = method === 'GET' && !url.endsWith('.png')
      return isPoll ? new Response('', { status: 500 }) : new Promise<Response>(() => {})
    },
  })
  dataDir = aDataFolder()
  const catalog = {
    providers: [{ id: 'films', kind: 'kling', base_url: site.url.origin, api_key: 'access,secret' }],
    models: [
      videoModel('film', { engine: 'family-c', upstreams: [{ provider: 'films', model: 'kling-v1' }] }),
    ],
  }
  writeFileSync(join(dataDir, 'catalog.json'), JSON.stringify(catalog))
  await start()
})
afterEach(async () => {
  await gateway.kill()
  await site.stop(true)
})

async function start(): Promise<void> {
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
    TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
    TOLLGATE_LOG_LEVEL: 'error',
  })
}

async function admin<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer
}

async function anAccount() {
  const { id } = await admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
  await admin('POST', `accounts/${id}/grants`, { amount_usd: '1' })
  const { key } = await admin<{ key: string }>('POST', `accounts/${id}/keys`, {})
  return { id, key }
}

function create(key: string, body: object): void {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const init = {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'film', duration: 5, ...body }),
  }
  void fetch(`${gateway.url}/v1/videos`, init).catch(() => 'killed')
}

const heldBy = async (id: string) => (await admin<{ held_usd: string }>('GET', `accounts/${id}`)).held_usd

async function expectSound(): Promise<void> {
  expect(await admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
}

test('after a kill during a submit, the job is not submitted again, and its reserve stays held', async () => {
  const ada = await anAccount()
  create(ada.key, { prompt: 'A' })
  await until('the submit has arrived', () => requests.length === 1)
  expect(await heldBy(ada.id)).toBe('0.5')
  await gateway.kill()

  await start()
  await admin('POST', 'reconcile')

  expect(await heldBy(ada.id)).toBe('0.5')
  expect(requests.filter(request => request.startsWith('POST'))).toHaveLength(1)
  await expectSound()
})
