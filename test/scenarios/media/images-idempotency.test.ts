import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import {
  contentsOf,
  errorOf,
  images,
  inputFiles,
  startScriptedImages,
  type ImagesBody,
} from '../gateways/image-gateway.ts'
import { rawConnection } from '../../../src/http1/testing/raw-http.ts'
import { until } from '../../support/until.ts'

const DAY_MS = 86_400_000

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedImages()
  gateway.media.submitted = images(['first'])
  ada = await gateway.account({ grant: '1' })
})
afterEach(() => gateway.stop())

function create(
  body: object | string = {},
  { key = 'order-7', path = '/v1/images/generations', as = ada } = {},
) {
  return gateway.create(as.key, body, { path, headers: { 'idempotency-key': key } })
}

describe('a repeat with the same Idempotency-Key', () => {
  test('a repeat with the same Idempotency-Key and the same body gets the first job, which is charged once', async () => {
    const first = (await (await create()).json()) as ImagesBody
    gateway.media.submitted = images(['second'])

    const response = await create()

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(first)
    expect(contentsOf(first)).toEqual(['first'])
    expect(gateway.media.submits).toHaveLength(1)
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  })

  test('a repeat with the same Idempotency-Key and another body is 409 idempotency_key_reuse', async () => {
    await create({ prompt: 'A boat' })

    const response = await create({ prompt: 'A ship' })

    expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false'])
    expect(await errorOf(response)).toMatchObject({
      error: { type: 'conflict_error', code: 'idempotency_key_reuse' },
    })
    expect(gateway.media.submits).toHaveLength(1)
  })

  test('a repeat with the same Idempotency-Key and the same fields in other bytes is 409', async () => {
    await create('{"model":"draw-1","prompt":"A boat"}')

    const response = await create('{"model":"draw-1", "prompt":"A boat"}')

    expect(response.status).toBe(409)
  })

  test('a repeat with the same Idempotency-Key on another path is 409', async () => {
    await create()

    const response = await create({}, { path: '/v1/images/edits' })

    expect(response.status).toBe(409)
  })

  test('a repeat with the same Idempotency-Key of another account makes a new job', async () => {
    const eve = await gateway.account()
    await create()

    const response = await create({ prompt: 'Another' }, { as: eve })

    expect(response.status).toBe(200)
    expect(gateway.media.submits).toHaveLength(2)
  })

  test('a repeat with the same Idempotency-Key gets a failed job as it failed, and nothing is submitted again', async () => {
    gateway.media.submitted = {
      outcome: 'rejected',
      reason: 'invalid',
      status: 400,
      code: 'BAD',
      message: 'No.',
    }
    const first = await create()
    gateway.media.submitted = images(['second'])

    const second = await create()

    expect([first.status, second.status]).toEqual([400, 400])
    expect(await second.json()).toEqual(await first.json())
    expect(gateway.media.submits).toHaveLength(1)
  })

  test("a repeat with the same Idempotency-Key gets a job that the provider's rate limit refused, and is told that a repeat cannot help", async () => {
    gateway.media.submitted = {
      outcome: 'rejected',
      reason: 'rate_limited',
      status: 429,
      message: 'Slow down.',
      retryAfterS: 7,
    }
    const replies = [await create(), await create(), await gateway.create(ada.key, {})]

    const shown = replies.map(({ status, headers }) => [
      status,
      headers.get('retry-after'),
      headers.get('x-should-retry'),
    ])
    expect(shown).toEqual([
      [429, '7', 'false'],
      [429, '7', 'false'],
      [429, '7', null],
    ])
    expect(gateway.media.submits).toHaveLength(2)
  })

  test('a repeat with the same Idempotency-Key waits for a job that runs, and gets its result', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const replies = [create()]
    await until('the job is submitted', () => gateway.media.submits.length === 1)
    replies.push(create(), create())

    answer.resolve(images(['one']))

    const bodies = await Promise.all(replies.map(async reply => (await (await reply).json()) as ImagesBody))
    expect(bodies.map(contentsOf)).toEqual([['one'], ['one'], ['one']])
    expect(gateway.media.submits).toHaveLength(1)
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  })

  test('a repeat with the same Idempotency-Key while the first is still being uploaded makes one job', async () => {
    const body = JSON.stringify({ model: 'draw-1', prompt: 'A boat' })
    const upload = rawConnection(gateway.url)
    const head = [
      'POST /v1/images/generations HTTP/1.1',
      'host: tollgate',
      `authorization: Bearer ${ada.key}`,
      'idempotency-key: order-7',
      'connection: close',
      `content-length: ${body.length}`,
    ]
    await upload.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`)

    const repeat = await create(body)
    await upload.write(body.slice(10))
    const first = await upload.closed

    expect(repeat.status).toBe(200)
    expect(first).toStartWith('HTTP/1.1 200')
    expect(first).toEndWith(JSON.stringify(await repeat.json()))
    expect(gateway.media.submits).toHaveLength(1)
  })

  test('a repeat with the same Idempotency-Key of many requests at once makes one job, even if the balance covers only one', async () => {
    const poor = await gateway.account({ grant: '0.04' })

    const replies = await Promise.all(Array.from({ length: 20 }, () => create({}, { as: poor })))

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(gateway.media.submits).toHaveLength(1)
    expect(await gateway.money(poor)).toEqual({ available: '0', held: '0' })
  })

  test('a repeat with the same Idempotency-Key gets its job from an empty balance', async () => {
    const poor = await gateway.account({ grant: '0.04' })
    await create({}, { as: poor })

    const repeat = await create({}, { as: poor })
    const other = await create({}, { as: poor, key: 'order-8' })

    expect([repeat.status, other.status]).toEqual([200, 402])
  })

  test('a repeat with the same Idempotency-Key gets its job after the model was switched off', async () => {
    await create()
    await gateway.admin('PATCH', 'models/draw-1', { enabled: false })

    const response = await create()

    expect(response.status).toBe(200)
  })

  test('a repeat with the same Idempotency-Key removes the files that it brought', async () => {
    const image = Buffer.alloc(100_000, 1).toString('base64')
    await create({ image })

    await create({ image })

    await until('the files are gone', () => inputFiles(gateway).length === 0)
    expect(gateway.media.submits).toHaveLength(1)
  })

  test('a repeat with the same Idempotency-Key is a new job after 24 hours', async () => {
    await create()
    gateway.clock.jump(DAY_MS - 1)
    const before = await create()
    gateway.clock.advance(1)

    const after = await create()

    expect([before.status, after.status]).toEqual([200, 200])
    expect(gateway.media.submits).toHaveLength(2)
  })

  test.each([
    ['400', { prompt: undefined }, 400],
    ['a model that does not exist', { model: 'draw-9' }, 400],
    ['402', { n: 10 }, 402],
  ])(
    'a repeat with the same Idempotency-Key after a refusal before a job (%s) is a new request',
    async (_, body, status) => {
      const poor = await gateway.account({ grant: '0.1' })
      const refused = await create(body, { as: poor })

      const accepted = await create({}, { as: poor })

      expect([refused.status, accepted.status]).toEqual([status, 200])
    },
  )
})

test('requests without an Idempotency-Key are separate jobs', async () => {
  await gateway.created(ada.key)
  await gateway.created(ada.key)

  expect(gateway.media.submits).toHaveLength(2)
  expect(await gateway.money(ada)).toEqual({ available: '0.92', held: '0' })
})

test('an Idempotency-Key of more than 255 characters is 400', async () => {
  const long = await create({}, { key: 'k'.repeat(256) })
  const longest = await create({}, { key: 'k'.repeat(255) })

  expect(long.status).toBe(400)
  expect(await errorOf(long)).toMatchObject({ error: { code: 'invalid_field', param: 'Idempotency-Key' } })
  expect(longest.status).toBe(200)
})
