import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import { until } from '../../support/until.ts'
import { startVideoGateway, videoModel, type VideoGateway } from '../gateways/video-gateway.ts'

const DAY_MS = 86_400_000
const CLIP = tinyMp4(5000)

/** The API and the files of two providers with keys of their own. */
let site: ReturnType<typeof Bun.serve>
/** The method and path of each call to the API, and the access key that signed it. */
let calls: string[]
let task: object
let gateway: VideoGateway
let ada: TestAccount

beforeEach(async () => {
  calls = []
  task = { task_status: 'processing' }
  site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ method, url, headers }) {
      const { pathname } = new URL(url)
      if (pathname === '/clip.mp4') return new Response(CLIP)
      calls.push(`${method} ${pathname} ${issuerOf(headers.get('authorization') ?? '')}`)
      return Response.json({ code: 0, data: { task_id: 'task-1', ...task } })
    },
  })
  gateway = await startVideoGateway({
    environment: { TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on', TOLLGATE_RECONCILE_EVERY_S: '86400' },
    providers: [
      { id: 'films', kind: 'kling', base_url: `${site.url.origin}/films`, api_key: 'access-1,secret-1' },
      { id: 'others', kind: 'kling', base_url: `${site.url.origin}/others`, api_key: 'access-2,secret-2' },
    ],
    models: [film('films')],
  })
  ada = await gateway.account({ grant: '10' })
})
afterEach(async () => {
  await gateway.stop()
  await site.stop(true)
})

function film(provider: string): object {
  return videoModel('film', { engine: 'family-c', upstreams: [{ provider, model: 'kling-v1' }] })
}

/** The access key in a signed token. */
function issuerOf(authorization: string): string {
  const [, claims = ''] = authorization.split('.')
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string }).iss
}

const accepted = () => gateway.accepted(ada.key, { model: 'film', prompt: 'A', duration: 5 })

test('a job is polled at the provider that accepted it, with its key, also after its model has moved', async () => {
  const { id } = await accepted()
  await gateway.admin('PUT', 'models/film', film('others'))

  await gateway.poll(ada.key, id)

  expect(calls).toEqual([
    'POST /films/v1/videos/text2video access-1',
    'GET /films/v1/videos/text2video/task-1 access-1',
  ])
})

test('no job is shown as running after its deadline, even if its provider says so', async () => {
  const { id } = await accepted()
  gateway.clock.jump(DAY_MS)

  await until('a pass has run', async () => {
    const { has_run: hasRun } = await gateway.admin<{ has_run: boolean }>('POST', 'reconcile')
    return hasRun
  })

  const job = await gateway.poll(ada.key, id)
  expect([job.status, job.error?.code]).toEqual(['failed', 'job_overdue'])
  expect(await gateway.money(ada)).toEqual({ available: '10', held: '0' })
  const { data } = await gateway.admin<{ data: readonly object[] }>('GET', 'jobs?state=processing')
  expect(data).toEqual([])
})

test("no reply about a job shows the provider's host, and its clip is sent by the gateway", async () => {
  const { id } = await accepted()
  const videos = [{ url: `${site.url.origin}/clip.mp4`, duration: '5' }]
  task = { task_status: 'succeed', task_result: { videos } }

  const done = await gateway.poll(ada.key, id)
  const link = new URL(done.data![0]!.url)
  const clip = await gateway.get(ada.key, link.pathname)

  expect(done.status).toBe('completed')
  expect(JSON.stringify(done)).not.toContain(site.url.host)
  expect(link.origin).toBe(new URL(gateway.url).origin)
  expect([...clip.headers.values()].join()).not.toContain(site.url.host)
  expect(new Uint8Array(await clip.arrayBuffer())).toEqual(CLIP)
})
