import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { until } from '../../support/until.ts'
import { videoModel } from '../gateways/video-gateway.ts'

const ADMIN_KEY = 'tg_admin_killed_videos'

let dataDir: string
let gateway: GatewayProcess
/** A site with files that never come, and a provider. It answers to polls, and to a submit when a test says so. */
let site: ReturnType<typeof Bun.serve>
let requests: string[]
let submitted: PromiseWithResolvers<Response>
let polled: () => Response

beforeEach(async () => {
  requests = []
  submitted = Promise.withResolvers()
  polled = () => new Response('', { status: 500 })
  site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ method, url }) {
      requests.push(`${method} ${new URL(url).pathname}`)
      if (method === 'POST') return submitted.promise
      const isFile = url.endsWith('.png') || url.endsWith('.mp4')
      return isFile ? new Promise<Response>(() => {}) : polled()
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

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
    TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
    TOLLGATE_LOG_LEVEL: 'error',
    ...environment,
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

type JobDetails = {
  readonly state: string
  readonly history: readonly { readonly detail: string | null }[]
  readonly upstream_id: string | null
  readonly failure: { readonly reason: string } | null
}

/** The only job that there is. */
async function theJob(): Promise<JobDetails | undefined> {
  const { data } = await admin<{ data: readonly { id: string }[] }>('GET', 'jobs')
  return data[0] && admin<JobDetails>('GET', `jobs/${data[0].id}`)
}

type Pass = { readonly has_run: boolean }

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
  // A pass that begins while the one of the start runs does nothing.
  await until('a pass has run', async () => (await admin<Pass>('POST', 'reconcile')).has_run)

  expect(await theJob()).toMatchObject({ state: 'unknown_submit' })
  expect(await heldBy(ada.id)).toBe('0.5')
  expect(requests.filter(request => request.startsWith('POST'))).toHaveLength(1)
  await expectSound()
})

test('the start finds the submits that its last process left, and does not wait for a regular pass', async () => {
  const ada = await anAccount()
  create(ada.key, { prompt: 'A' })
  await until('the submit has arrived', () => requests.length === 1)
  await gateway.kill()

  await start()

  await until('the submit is unknown', async () => (await theJob())?.state === 'unknown_submit')
  const events = (await theJob())?.history.map(({ detail }) => detail)
  expect(events).toEqual([null, 'The submission began.', 'The gateway stopped during the submission.'])
  expect(await heldBy(ada.id)).toBe('0.5')
  await expectSound()
})

test('the start releases a job whose submit had not begun, and never submits it', async () => {
  const ada = await anAccount()
  create(ada.key, { prompt: 'A', image: `${site.url.origin}/slow.png` })
  await until('the input is fetched', () => requests.length === 1)
  expect(await heldBy(ada.id)).toBe('0.5')
  await gateway.kill()

  await start()

  await until('the job has failed', async () => (await theJob())?.state === 'failed')
  expect(await theJob()).toMatchObject({ failure: { reason: 'submit_unconfirmed' } })
  expect(await heldBy(ada.id)).toBe('0')
  expect(requests.filter(request => request.startsWith('POST'))).toEqual([])
  await expectSound()
})

test('SIGTERM waits for the answer to a submit whose client has disconnected', async () => {
  const ada = await anAccount()
  const leaving = new AbortController()
  const reply = fetch(`${gateway.url}/v1/videos`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key },
    body: JSON.stringify({ model: 'film', duration: 5, prompt: 'A' }),
    signal: leaving.signal,
  })
  await until('the submit has arrived', () => requests.length === 1)
  leaving.abort()
  await reply.catch(() => undefined)

  let hasStopped = false
  const stopped = gateway.stop().finally(() => (hasStopped = true))
  // A gateway that does not wait ends sooner than another one starts and stops.
  const other = await startGatewayProcess(aDataFolder())
  await other.stop()
  expect(hasStopped).toBe(false)
  submitted.resolve(Response.json({ code: 0, data: { task_id: 'task-1', task_status: 'submitted' } }))

  expect(await stopped).toBe(0)
  await start()
  expect(await theJob()).toMatchObject({ state: 'processing', upstream_id: 'text2video/task-1' })
  expect(await heldBy(ada.id)).toBe('0.5')
})

test('SIGTERM does not wait for a result that is fetched: the next start fetches it again', async () => {
  const ada = await anAccount()
  submitted.resolve(Response.json({ code: 0, data: { task_id: 'task-1', task_status: 'submitted' } }))
  create(ada.key, { prompt: 'A' })
  await until('the job is accepted', async () => (await theJob())?.state === 'processing')
  await gateway.kill()
  const videos = [{ url: `${site.url.origin}/clip.mp4`, duration: '5' }]
  polled = () =>
    Response.json({ code: 0, data: { task_id: 'task-1', task_status: 'succeed', task_result: { videos } } })
  await start({ TOLLGATE_RECONCILE_EVERY_S: '1' })
  const fetches = () => requests.filter(request => request.endsWith('/clip.mp4')).length
  await until('the result is fetched', () => fetches() === 1)
  const startedMs = performance.now()

  const code = await gateway.stop()

  // A pass of the reconciler waits up to 10 s for results.
  expect([code, performance.now() - startedMs < 7000]).toEqual([0, true])
  await start()
  expect(await theJob()).toMatchObject({ state: 'processing' })
  expect(await heldBy(ada.id)).toBe('0.5')
  await expectSound()
})
