import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip } from '../../support/scripted-media.ts'
import { errorOf, images, startScriptedImages, STEP_MS } from '../gateways/image-gateway.ts'
import { ADMIN_KEY } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'
import { videoModel } from '../gateways/video-gateway.ts'

/** How often the reconciler runs unless a setting says otherwise. */
const PASS_MS = 150_000

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedImages({
    models: [videoModel('film')],
    environment: { TOLLGATE_RECONCILE_EVERY_S: String(PASS_MS / 1000) },
  })
  ada = await gateway.account({ grant: '1' })
})
afterEach(() => gateway.stop())

async function read(path: string): Promise<object> {
  const response = await fetch(gateway.url + path, { headers: { 'x-api-key': ada.key } })
  return (await response.json()) as object
}

/** A video job that runs. Its reply does not wait. */
async function runningVideo(): Promise<void> {
  const response = await gateway.create(ada.key, { model: 'film', duration: 4 }, { path: '/v1/videos' })
  expect(response.status).toBe(202)
}

test('the money that jobs hold or have spent is media in the balance, and counts in the totals', async () => {
  gateway.media.submitted = images(['one', 'two'])
  await gateway.created(ada.key, { n: 2 })
  gateway.media.submitted = undefined
  await runningVideo()

  expect(await read('/v1/balance')).toEqual({
    object: 'balance',
    currency: 'USD',
    available_usd: '0.52',
    held_usd: '0.4',
    held: { text_usd: '0', media_usd: '0.4' },
    spent: { text_usd: '0', media_usd: '0.08' },
  })
  expect(await read('/v1/credits')).toEqual({ balance: '0.52', total_used: '0.08' })
})

test('the money that jobs hold is in the metric of held money, until they end', async () => {
  await runningVideo()

  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  })

  expect(await response.text()).toContain('tollgate_held_usd{kind="media"} 0.4\n')
})

test('the reconciler settles a finished job by itself within 150 s, without any request for it', async () => {
  await runningVideo()
  gateway.media.polled = aClip({ durationMs: 4000 })

  gateway.clock.advance(PASS_MS)

  await until('the job is charged', async () => (await ada.balance()).held_usd === '0')
  expect(await gateway.money(ada)).toEqual({ available: '0.6', held: '0' })
})

describe('every media path needs a key', () => {
  const paths = [
    ['POST', '/v1/images/generations'],
    ['POST', '/v1/images/edits'],
    ['GET', '/v1/images/jobs/img_00000000000000000000000000'],
    ['POST', '/v1/videos'],
    ['POST', '/v1/video/generations'],
    ['POST', '/v1/videos/extend'],
    ['POST', '/v1/videos/storyboard'],
    ['GET', '/v1/videos/vid_00000000000000000000000000'],
    ['GET', '/v1/videos/vid_00000000000000000000000000/content'],
    ['HEAD', '/v1/videos/vid_00000000000000000000000000/content'],
  ] as const

  test.each(paths)('%s %s is 401 without a key, or with an unknown one', async (method, path) => {
    const init = { method, ...(method === 'POST' ? { body: '{"model":"draw-1","prompt":"A"}' } : {}) }
    const replies = [
      await fetch(gateway.url + path, init),
      await fetch(gateway.url + path, { ...init, headers: { 'x-api-key': 'tg_live_unknown' } }),
      await fetch(gateway.url + path, { ...init, headers: { authorization: 'Bearer tg_live_unknown' } }),
    ]

    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401])
    if (method !== 'HEAD')
      expect(await errorOf(replies[0]!)).toMatchObject({ error: { type: 'authentication_error' } })
    expect(gateway.media.submits).toEqual([])
  })

  test.each(['x-api-key', 'authorization'])('every media path takes the key in %s', async header => {
    const value = header === 'authorization' ? `Bearer ${ada.key}` : ada.key
    gateway.media.submitted = images(['one'])

    const response = await fetch(`${gateway.url}/v1/images/edits`, {
      method: 'POST',
      headers: { [header]: value },
      body: '{"model":"draw-1","prompt":"A"}',
    })

    expect(response.status).toBe(200)
  })
})

test('every poll of a job is free, whoever asks and however often', async () => {
  const { id } = await gateway.running(ada.key, { n: 2 })
  const before = await gateway.money(ada)

  for (let asked = 0; asked < 5; asked += 1) {
    gateway.clock.advance(STEP_MS)
    await gateway.lookup(ada.key, id)
  }

  expect(await gateway.money(ada)).toEqual(before)
})
