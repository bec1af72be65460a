import { globSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip } from '../../support/scripted-media.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import { images, startScriptedImages, type ImageJobBody } from '../gateways/image-gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { ADMIN_KEY } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'
import { startScriptedVideos } from '../gateways/video-gateway.ts'

const CLIP = tinyMp4(5000)

type Line = Readonly<Record<string, unknown>>
type Verification = {
  readonly ok: boolean
  readonly problems: readonly { readonly id: string; readonly concerns: string; readonly message: string }[]
}
type Gateway = { readonly url: string; readonly dataDir: string; admin: typeof pictures.admin }

const logging = { environment: { TOLLGATE_LOG_LEVEL: 'error' } }
let pictures: Awaited<ReturnType<typeof startScriptedImages>>
let films: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount
let lines: Line[]
let written: readonly { mockRestore(): void }[]

beforeEach(() => {
  lines = []
  const write = ((text: string, done?: () => void) => {
    for (const line of text.trim().split('\n')) lines.push(JSON.parse(line) as Line)
    done?.()
    return true
  }) as typeof process.stdout.write
  // Errors of the log, and the welcome of a gateway that logs.
  written = [
    spyOn(process.stdout, 'write').mockImplementation(write),
    spyOn(process.stderr, 'write').mockImplementation(() => true),
  ]
})
afterEach(() => {
  for (const output of written) output.mockRestore()
})

/** The files of results, in order. */
function filesOf({ dataDir }: Gateway): readonly string[] {
  return globSync('blobs/live/*/*', { cwd: dataDir })
    .sort()
    .map(name => join(dataDir, name))
}

function remove(file: string): void {
  rmSync(file)
}

function edit(file: string): void {
  writeFileSync(file, 'x')
}

/** The reports of a damaged result to the operator: log lines, the metric, and the check of `doctor`. */
async function reportsOf({ url, admin }: Gateway) {
  await until('the damage is logged', () => lines.length > 0)
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
  const { checks } = await admin<{ checks: { name: string; ok: boolean; detail: string }[] }>('GET', 'doctor')
  return {
    lines,
    metric: /^tollgate_damaged_results_total\{.*\} \d+$/m.exec(metrics)?.[0],
    check: checks.find(({ name }) => name === 'stored results'),
  }
}

describe('a completed image job', () => {
  let id: string

  beforeEach(async () => {
    pictures = await startScriptedImages(logging)
    ada = await pictures.account({ grant: '1' })
    id = (await pictures.running(ada.key, { n: 2 })).id
    pictures.media.polled = images(['one', 'two'])
    await pictures.poll(ada.key, id)
  })
  afterEach(() => pictures.stop())

  test.each([
    ['missing', remove],
    ['changed', edit],
  ] as const)('one of whose files is %s answers like an archived one', async (damage, hurt) => {
    hurt(filesOf(pictures).at(-1)!)

    const replies = [await pictures.lookup(ada.key, id), await pictures.lookup(ada.key, id)]

    for (const reply of replies) {
      expect(reply.status).toBe(200)
      expect((await reply.json()) as ImageJobBody).toEqual({
        id,
        status: 'completed',
        cost_usd: '0.08',
        data: [],
        archived: true,
      })
    }
    const reports = await reportsOf(pictures)
    expect(reports.lines).toMatchObject([{ level: 'error', job_id: id, damage, cost_usd: '0.08' }])
    expect(reports.metric).toBe('tollgate_damaged_results_total{kind="image",model="draw-1"} 1')
    expect(reports.check).toMatchObject({ ok: false, detail: expect.stringContaining(`${id} (${damage})`) })
  })

  test('a completed image job whose files are as they were written is served, and doctor has no such check', async () => {
    const { data } = await pictures.poll(ada.key, id)
    const { checks } = await pictures.admin<{ checks: { name: string }[] }>('GET', 'doctor')

    expect(data).toHaveLength(2)
    expect(checks.map(({ name }) => name)).not.toContain('stored results')
  })

  test('a completed image job is named by verify with the charge to refund, stops nothing, and can be accepted', async () => {
    const [first = '', second = ''] = filesOf(pictures)
    remove(first)
    edit(second)

    const found = await pictures.admin<Verification>('POST', 'verify')
    const acceptance = { accept: found.problems[0]?.id, reason: 'refunded' }
    const accepted = await pictures.admin<Verification>('POST', 'verify', acceptance)
    pictures.media.submitted = images(['three'])
    const another = await pictures.create(ada.key, { n: 1 })

    expect(found).toMatchObject({ ok: false, problems: [{ concerns: 'nothing' }] })
    const { message } = found.problems[0]!
    expect(message).toContain(`job ${id} has damaged stored files: `)
    expect(message).toContain(`${id}/out-0 (missing), ${id}/out-1 (changed).`)
    expect(message).toEndWith(`refund the charge of 0.08 USD with "tollgate refund ${id}".`)
    expect(accepted.ok).toBe(true)
    expect(another.status).toBe(200)
  })

  test('a completed image job whose files were archived is not reported by verify', async () => {
    pictures.clock.jump(8 * 86_400_000)
    await pictures.reconcile()
    rmSync(join(pictures.dataDir, 'blobs/archive'), { recursive: true })

    expect(await pictures.admin<Verification>('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  })
})

describe('the clip of a completed video job', () => {
  let id: string

  beforeEach(async () => {
    films = await startScriptedVideos(logging)
    ada = await films.account({ grant: '10' })
    id = (await films.accepted(ada.key, { model: 'family-a', prompt: 'A', duration: 5 })).id
    films.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
    await films.poll(ada.key, id)
  })
  afterEach(() => films.stop())

  test.each([
    ['missing', remove, {}],
    ['changed', edit, {}],
    ['changed', (file: string) => writeFileSync(file, CLIP.with(CLIP.length - 1, 1)), { range: 'bytes=0-9' }],
  ] as const)(
    'the clip of a completed video job whose file is %s is 410 content_archived, and is reported',
    async (damage, hurt, headers) => {
      const path = `/v1/videos/${id}/content`
      const before = (await films.get(ada.key, path, { headers })).status
      hurt(filesOf(films)[0]!)

      const response = await films.get(ada.key, path, { headers })

      expect(before).toBe('range' in headers ? 206 : 200)
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(await refusalOf(response)).toMatchObject({ status: 410, code: 'content_archived' })
      const reports = await reportsOf(films)
      expect(reports.lines).toMatchObject([{ level: 'error', job_id: id, damage, cost_usd: '0.5' }])
      expect(reports.metric).toBe('tollgate_damaged_results_total{kind="video",model="family-a"} 1')
      expect(reports.check?.detail).toContain(`${id} (${damage})`)
    },
  )
})
