import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { rejection } from '../../support/rejection.ts'
import { startS3Server, type S3Request, type S3Server } from '../../support/s3-server.ts'
import { aClip } from '../../support/scripted-media.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import { images, startScriptedImages, type MediaError } from '../gateways/image-gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { until } from '../../support/until.ts'
import { startScriptedVideos, videoModel } from '../gateways/video-gateway.ts'

/** A clip of three parts of an upload: the header, and free space behind it. */
const CLIP = (() => {
  const padding = Buffer.alloc(12 * 1024 * 1024)
  padding.writeUInt32BE(padding.length)
  padding.write('free', 4, 'latin1')
  return new Uint8Array(Buffer.concat([tinyMp4(5000), padding]))
})()

type Check = { readonly name: string; readonly ok: boolean; readonly detail: string }
type Doctor = {
  readonly ok: boolean
  readonly checks: readonly Check[]
  readonly settings: readonly { readonly name: string; readonly value: string | null }[]
}
type Verification = { readonly ok: boolean; readonly problems: readonly { readonly message: string }[] }

let storage: S3Server

const isRead = ({ method, key }: S3Request) => method === 'GET' && key.includes('live/')
/** Refuses reads until the test lets them pass. Unlike an outage, this is not tried again. */
const refuseReads = () => {
  storage.fault = request => (isRead(request) ? { status: 403, code: 'AccessDenied' } : undefined)
}

describe('a gateway whose results are in a bucket', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
  let ada: TestAccount
  let id: string

  beforeEach(async () => {
    const time: { now?: () => number } = {}
    storage = await startS3Server({ prefix: 'gate', now: () => time.now?.() ?? 1_800_000_000_000 })
    gateway = await startScriptedVideos({ environment: storage.environment })
    time.now = () => gateway.clock.now()
    ada = await gateway.account({ grant: '10' })
    id = (await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A', duration: 5 })).id
    gateway.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
    await gateway.poll(ada.key, id)
  })
  afterEach(async () => {
    await gateway.stop()
    await storage.stop()
  })

  const content = (headers: Record<string, string> = {}) =>
    gateway.get(ada.key, `/v1/videos/${id}/content`, { headers })

  test('stores a clip there, and serves all of it and parts of it', async () => {
    const whole = await content()
    const part = await content({ range: 'bytes=4-7' })

    expect(Buffer.from(await whole.arrayBuffer()).equals(Buffer.from(CLIP))).toBe(true)
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
    expect(part.headers.get('content-range')).toBe(`bytes 4-7/${CLIP.length}`)
    expect([...storage.objects.keys()]).toEqual([`gate/live/${id}.out-0`])
    expect(await gateway.money(ada)).toEqual({ available: '9.5', held: '0' })
  })

  test.each(['changed', 'missing'])(
    'answers 410 for a clip that another program left %s in the bucket, and names it in verify',
    async left => {
      const name = `gate/live/${id}.out-0`
      const object = storage.objects.get(name)!
      const bytes = Buffer.concat([object.bytes.subarray(1), Buffer.from('x')])
      if (left === 'changed') storage.objects.set(name, { ...object, bytes, etag: 'another' })
      else storage.objects.clear()

      const refusal = await refusalOf(await content())
      const { ok, problems } = await gateway.admin<Verification>('POST', 'verify')

      expect(refusal).toMatchObject({ status: 410, code: 'content_archived' })
      expect(ok).toBe(false)
      expect(problems[0]!.message).toContain(`${id}/out-0 (${left})`)
      expect(await gateway.money(ada)).toEqual({ available: '9.5', held: '0' })
    },
  )

  test('lets a job wait while the bucket does not answer, and charges it once when it does', async () => {
    const isWrite = ({ method, key }: S3Request) => method === 'PUT' && key.startsWith('gate/live/')
    const writes = () => storage.requests.filter(isWrite).length
    const before = writes()
    gateway.media.polled = aClip({ durationMs: 5000 })
    storage.fault = request => (isWrite(request) ? 'hang' : undefined)
    const { id: waiting } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'B', duration: 5 })
    const state = async () => (await gateway.admin<{ state: string }>('GET', `jobs/${waiting}`)).state
    void gateway.poll(ada.key, waiting)

    // Each try has a minute.
    await until('the storage is asked again', () => {
      gateway.clock.advance(10_000)
      return writes() > before + 1
    })
    const meanwhile = [await state(), await gateway.money(ada)]
    storage.fault = () => undefined
    await until('the job is completed', async () => {
      gateway.clock.advance(10_000)
      return (await state()) === 'completed'
    })

    expect(meanwhile).toEqual(['processing', { available: '9', held: '0.5' }])
    expect(storage.objects.has(`gate/live/${waiting}.out-0`)).toBe(true)
    expect(await gateway.money(ada)).toEqual({ available: '9', held: '0' })
    expect(await gateway.admin<Verification>('POST', 'verify')).toMatchObject({ ok: true })
  })

  test('answers 503 while the bucket cannot be read, and reports no clip as damaged', async () => {
    refuseReads()
    const response = await content()
    const refusal = await refusalOf(response)
    const found = await gateway.admin<Verification>('POST', 'verify')
    storage.fault = () => undefined
    const later = await content()
    await later.body?.cancel()

    expect(refusal).toMatchObject({ status: 503, code: 'unavailable' })
    expect(response.headers.get('retry-after')).toBe('10')
    expect(found.problems.map(({ message }) => message)).toEqual([
      'The stored results could not all be checked. GET of an object in s3://results/gate failed: status 403 (AccessDenied). Run verify again later.',
    ])
    expect(later.status).toBe(200)
    expect(await gateway.admin<Verification>('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  })

  test('moves a clip within the bucket when it is archived, and removes a clip that its customer deletes', async () => {
    const path = `/v1/videos/${id}`
    await gateway.stop()
    const kept = { TOLLGATE_VIDEO_RETENTION_DAYS: '1', TOLLGATE_OPENAI_MEDIA: 'on' }
    gateway = await startScriptedVideos({ environment: { ...storage.environment, ...kept } })
    ada = await gateway.account({ grant: '10' })
    gateway.media.polled = aClip({ durationMs: 5000 })
    const body = { model: 'family-a', prompt: 'A', duration: 5 }
    const archived = await gateway.finished(ada.key, body)
    gateway.clock.jump(2 * 86_400_000)
    await until('a pass has run', async () => {
      return (await gateway.admin<{ has_run: boolean }>('POST', 'reconcile')).has_run
    })
    const deleted = await gateway.finished(ada.key, body)

    const deletion = await gateway.get(ada.key, `/v1/videos/${deleted.id}`, { method: 'DELETE' })

    expect(deletion.status).toBe(200)
    // The first clip is one of other books: this gateway does not know its job, and leaves it.
    expect([...storage.objects.keys()].sort()).toEqual([
      `gate/archive/${archived.id}.out-0`,
      `gate/live/${path.split('/').at(-1)}.out-0`,
    ])
  })

  test('removes the parts of an upload that was cut off more than an hour ago', async () => {
    const passed = () =>
      until('a pass has run', async () => {
        return (await gateway.admin<{ has_run: boolean }>('POST', 'reconcile')).has_run
      })
    const upload = { key: `gate/live/${id}.out-1`, parts: new Map(), initiatedMs: gateway.clock.now() }
    storage.uploads.set('cut', upload)
    storage.uploads.set('of others', { ...upload, key: 'other/object' })

    await passed()
    const before = [...storage.uploads.keys()]
    gateway.clock.advance(2 * 3_600_000)
    await passed()

    expect(before).toEqual(['cut', 'of others'])
    expect([...storage.uploads.keys()]).toEqual(['of others'])
  })

  test('does the other work of a pass while the files are out of reach, and reports one failure', async () => {
    storage.fault = ({ key }) => (key === '' ? { status: 403, code: 'AccessDenied' } : undefined)
    type Pass = { readonly has_run: boolean; readonly jobs: { readonly failed: number } }

    let pass: Pass
    await until('a pass has run', async () => (pass = await gateway.admin<Pass>('POST', 'reconcile')).has_run)

    expect(pass!.jobs.failed).toBe(1)
  })

  test('says in doctor whether the bucket can be used, and shows no key', async () => {
    const sound = await gateway.admin<Doctor>('GET', 'doctor')
    storage.isPublic = true
    const open = await gateway.admin<Doctor>('GET', 'doctor')
    refuseReads()
    storage.fault = () => ({ status: 403, code: 'AccessDenied' })
    const refused = await gateway.admin<Doctor>('GET', 'doctor')

    const checkOf = ({ checks }: Doctor) => checks.find(({ name }) => name === 'results storage')
    expect([checkOf(sound)?.ok, checkOf(open)?.ok, checkOf(refused)?.ok]).toEqual([true, false, false])
    expect(checkOf(open)?.detail).toContain('is public')
    expect(checkOf(refused)?.detail).toContain('403 (AccessDenied)')
    expect(JSON.stringify([sound, open, refused])).not.toContain(storage.settings.secretAccessKey)
    expect(JSON.stringify([sound, open, refused])).not.toContain(storage.settings.accessKeyId)
  })

  test('says in a backup that the results are not in it', async () => {
    const file = join(aDataFolder(), 'books.db')

    const backup = await gateway.admin('POST', 'backups', { file })

    expect(backup).toMatchObject({ job_files: 0, results_in: 's3://results/gate' })
  })
})

test('images that are made and paid but cannot be read are a 503 that no client sends again', async () => {
  storage = await startS3Server({ now: () => 1_800_000_000_000 })
  const gateway = await startScriptedImages({ environment: storage.environment })
  const ada = await gateway.account({ grant: '1' })
  gateway.media.submitted = images(['one'])
  refuseReads()

  const response = await gateway.create(ada.key, { n: 1 })
  const body = (await response.json()) as MediaError
  storage.fault = () => undefined
  const read = await gateway.lookup(ada.key, body.id ?? '')

  expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, 'false'])
  expect(body).toMatchObject({ error: { code: 'unavailable' }, cost_usd: '0.04' })
  expect(body.error.message).toContain(body.id!)
  expect(((await read.json()) as { data: readonly unknown[] }).data).toHaveLength(1)
  expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  await gateway.stop()
  await storage.stop()
})

test('a stream of images that are made and paid but cannot be read ends with an error that has their job', async () => {
  storage = await startS3Server({ now: () => 1_800_000_000_000 })
  const environment = { ...storage.environment, TOLLGATE_OPENAI_MEDIA: 'on' }
  const gateway = await startScriptedImages({ environment })
  const ada = await gateway.account({ grant: '1' })
  gateway.media.submitted = images(['one'])
  refuseReads()

  const response = await gateway.create(ada.key, { stream: true })
  const [, data = '{}'] = /^event: error\ndata: (.*)\n\n$/.exec(await response.text()) ?? []
  storage.fault = () => undefined
  const event = JSON.parse(data) as MediaError
  const read = await gateway.lookup(ada.key, event.id ?? '')

  expect(event).toMatchObject({ error: { code: 'unavailable' }, cost_usd: '0.04' })
  expect(((await read.json()) as { data: readonly unknown[] }).data).toHaveLength(1)
  await gateway.stop()
  await storage.stop()
})

test.each<[string, (server: S3Server) => Record<string, string>, string]>([
  [
    'is public',
    server => ((server.isPublic = true), {}),
    's3://results is public: everybody can read its objects.',
  ],
  [
    'refuses the keys',
    () => ({ TOLLGATE_S3_SECRET_ACCESS_KEY: 'wrong' }),
    'status 403 (SignatureDoesNotMatch).',
  ],
])('a gateway does not start with a bucket that %s', async (_, change, expected) => {
  storage = await startS3Server({ now: () => 1_800_000_000_000 })
  const changes = change(storage)

  const error = await rejection(startScriptedVideos({ environment: { ...storage.environment, ...changes } }))

  expect((error as Error).message).toContain(expected)
  expect((error as Error).message).toContain('See docs/operating/s3.md')
  await storage.stop()
})

describe('a gateway in its own process', () => {
  const ADMIN_KEY = 'tg_admin_results_on_s3'
  /** A provider whose job has ended, and the site with its clip. */
  let site: ReturnType<typeof Bun.serve>
  let dataDir: string
  let gateway: GatewayProcess

  beforeEach(async () => {
    storage = await startS3Server()
    site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ method, url }) {
        if (url.endsWith('.mp4')) return new Response(CLIP)
        const task = { task_id: crypto.randomUUID(), task_status: 'submitted' }
        if (method === 'POST') return Response.json({ code: 0, data: task })
        const videos = [{ url: `${site.url.origin}/clip.mp4`, duration: '5' }]
        return Response.json({
          code: 0,
          data: { ...task, task_status: 'succeed', task_result: { videos } },
        })
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
    await storage.stop()
  })

  async function start(): Promise<void> {
    gateway = await startGatewayProcess(dataDir, {
      ...storage.environment,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
      TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
      TOLLGATE_RECONCILE_EVERY_S: '1',
      TOLLGATE_LOG_LEVEL: 'debug',
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

  /** An account of one dollar, and its job of 0.5 dollars. */
  async function aJob() {
    const { id: account } = await admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
    await admin('POST', `accounts/${account}/grants`, { amount_usd: '1' })
    const { key } = await admin<{ key: string }>('POST', `accounts/${account}/keys`, {})
    const response = await fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ model: 'film', duration: 5, prompt: 'A' }),
    })
    return { account, key, job: ((await response.json()) as { id: string }).id }
  }

  const money = async (account: string) => {
    type Money = { readonly available_usd: string; readonly held_usd: string }
    const { available_usd: available, held_usd: held } = await admin<Money>('GET', `accounts/${account}`)
    return { available, held }
  }
  const stateOf = async (job: string) => (await admin<{ state: string }>('GET', `jobs/${job}`)).state
  const completed = (job: string) =>
    // A fetch that was cut off is begun again by the next poll, 15 s later.
    until('the job is completed', async () => (await stateOf(job)) === 'completed', 60_000)

  async function expectStoredOnce({ account, key, job }: Awaited<ReturnType<typeof aJob>>): Promise<void> {
    const headers = { 'x-api-key': key }
    const response = await fetch(`${gateway.url}/v1/videos/${job}/content`, { headers })
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(CLIP))).toBe(true)
    expect([...storage.objects.keys()]).toEqual([`live/${job}.out-0`])
    expect(await money(account)).toEqual({ available: '0.5', held: '0' })
    expect(await admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  }

  test('a gateway that is killed in the middle of an upload stores the clip at its next start, and charges it once', async () => {
    storage.fault = ({ query }) => (query.get('partNumber') === '2' ? 'hang' : undefined)
    const made = await aJob()
    await until('the upload has begun', () =>
      storage.requests.some(({ query }) => query.get('partNumber') === '2'),
    )
    await gateway.kill()
    expect([storage.objects.size, storage.uploads.size]).toEqual([0, 1])
    storage.fault = () => undefined

    await start()
    await completed(made.job)

    await expectStoredOnce(made)
  })

  test('while the storage is down, a job keeps running and its money held, and it is charged once when the storage is back', async () => {
    await storage.stop()
    const made = await aJob()
    await until('the result was not stored', () => gateway.output().includes('s3://results failed'))
    const meanwhile = [await stateOf(made.job), await money(made.account)]
    await gateway.kill()
    // A start does not wait for the storage either.
    await start()
    const checks = (await admin<Doctor>('GET', 'doctor')).checks
    const warning = 'the storage of results cannot be reached'
    await until('the gateway warns', () => gateway.output().includes(warning))
    await storage.start()

    await completed(made.job)

    expect(meanwhile).toEqual(['processing', { available: '0.5', held: '0.5' }])
    expect(checks.find(({ name }) => name === 'results storage')?.ok).toBe(false)
    await expectStoredOnce(made)
    expect(gateway.output()).not.toContain(storage.settings.secretAccessKey)
    expect(gateway.output()).not.toContain(storage.settings.accessKeyId)
  })
})
