import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { runCli } from '../../support/run-cli.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import { until } from '../../support/until.ts'
import { videoModel } from '../gateways/video-gateway.ts'

const ADMIN_KEY = 'tg_admin_restored_jobs'
const ACCEPTED = { code: 0, data: { task_id: 'task-1', task_status: 'submitted' } }

let dataDir: string
let file: string
let gateway: GatewayProcess
/** A provider with a clip. It answers to a submit and finishes the job when a test says so. */
let site: ReturnType<typeof Bun.serve>
let submits: number
let submitted: PromiseWithResolvers<Response>
let isFinished: boolean
let ada: { readonly id: string; readonly key: string }

beforeEach(async () => {
  submits = 0
  isFinished = false
  submitted = Promise.withResolvers()
  site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  dataDir = aDataFolder()
  file = join(aDataFolder(), 'books.db')
  const catalog = {
    providers: [{ id: 'films', kind: 'kling', base_url: site.url.origin, api_key: 'access,secret' }],
    models: [
      videoModel('film', { engine: 'family-c', upstreams: [{ provider: 'films', model: 'kling-v1' }] }),
    ],
  }
  writeFileSync(join(dataDir, 'catalog.json'), JSON.stringify(catalog))
  await start()
  const { id } = await admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
  await admin('POST', `accounts/${id}/grants`, { amount_usd: '1' })
  const { key } = await admin<{ key: string }>('POST', `accounts/${id}/keys`, {})
  ada = { id, key }
})
afterEach(async () => {
  await gateway.kill()
  await site.stop(true)
})

function answer({ method, url }: Request): Response | Promise<Response> {
  if (method === 'POST') {
    submits += 1
    return submitted.promise
  }
  if (url.endsWith('.mp4')) return new Response(tinyMp4(5000))
  const videos = [{ url: `${site.url.origin}/clip.mp4`, duration: '5' }]
  const done = { task_status: 'succeed', task_result: { videos } }
  return Response.json({
    code: 0,
    data: { task_id: 'task-1', ...(isFinished ? done : { task_status: 'processing' }) },
  })
}

async function start(): Promise<void> {
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
    TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_RECONCILE_EVERY_S: '1',
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

/** Creates the only job. The reply may come after the gateway was stopped. */
function createJob(): void {
  const init = {
    method: 'POST',
    headers: { 'x-api-key': ada.key, 'content-type': 'application/json', 'x-service-tags': 'team=red' },
    body: JSON.stringify({ model: 'film', duration: 5, prompt: 'A', user: 'ada-17' }),
  }
  void fetch(`${gateway.url}/v1/videos`, init).catch(() => 'stopped')
}

async function stateOfJob(): Promise<string | undefined> {
  const { data } = await admin<{ data: readonly { state: string }[] }>('GET', 'jobs')
  return data[0]?.state
}

async function untilJobIs(state: string): Promise<void> {
  await until(`the job is ${state}`, async () => (await stateOfJob()) === state)
}

/** Stops the gateway, restores the backup over its books, and starts it again. */
async function restoreAndStart(): Promise<void> {
  await gateway.stop()
  const { code, err } = await runCli(['restore', file, '--replace', 'a test'], { TOLLGATE_DATA_DIR: dataDir })
  if (code !== 0) throw new Error(err)
  await start()
}

function money(): Promise<{ available_usd: string; held_usd: string }> {
  return admin('GET', `accounts/${ada.id}`)
}

async function expectSound(): Promise<void> {
  expect(await admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
}

test('a job that ran at the backup is finished after the restore, charged once and submitted once', async () => {
  submitted.resolve(Response.json(ACCEPTED))
  createJob()
  await untilJobIs('processing')
  await admin('POST', 'backups', { file })
  isFinished = true
  await untilJobIs('completed')
  const charged = await money()

  await restoreAndStart()

  await untilJobIs('completed')
  expect(await money()).toMatchObject({ available_usd: charged.available_usd, held_usd: '0' })
  expect(submits).toBe(1)
  await expectSound()
})

test('a job whose submit was under way at the backup is not submitted again after the restore', async () => {
  createJob()
  await until('the submit has arrived', () => submits === 1)
  await admin('POST', 'backups', { file })
  submitted.resolve(Response.json(ACCEPTED))
  await untilJobIs('processing')

  await restoreAndStart()

  await until('the restored job has moved', async () => (await stateOfJob()) !== 'queued')
  expect(await stateOfJob()).toBe('unknown_submit')
  expect(await money()).toMatchObject({ available_usd: '0.5', held_usd: '0.5' })
  await admin('POST', 'reconcile')
  expect(submits).toBe(1)
  await expectSound()
})

test('a job that was open at a kill -9 is charged once, with the tags and the user of its request', async () => {
  submitted.resolve(Response.json(ACCEPTED))
  createJob()
  await untilJobIs('processing')

  await gateway.kill()
  isFinished = true
  await start()

  await untilJobIs('completed')
  const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': ada.key } })
  const { data } = (await usage.json()) as { data: readonly object[] }
  expect(data).toMatchObject([{ route: 'videos', tags: { team: 'red' }, user: 'ada-17' }])
  expect(data).toHaveLength(1)
  expect(submits).toBe(1)
  await expectSound()
})
