import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { chat, startLimitedGateway, type Holder, type LimitedGateway } from '../gateways/limited-gateway.ts'
import { DONE, FINISH, HEL, ROLE } from '../../support/stream-frames.ts'
import { refusalOf } from './refusal-of.ts'
import { makeCustomer, startToKill } from '../books/reported-costs.ts'
import { until } from '../../support/until.ts'

const DAY_MS = 86_400_000

let gateway: LimitedGateway

beforeEach(async () => {
  gateway = await startLimitedGateway()
})
afterEach(() => gateway.stop())

type Secret = { readonly prefix: string; readonly ends_at: string | null; readonly has_ended: boolean }
type Rotated = { readonly id: string; readonly key: string; readonly secrets: readonly Secret[] }

const rotate = ({ keyId }: Holder, body: object = {}) =>
  gateway.admin<Rotated>('POST', `keys/${keyId}/rotate`, body)
const prefixOf = (text: string) => text.slice(0, 12)

/** Sends an admin request that is refused. */
async function refused(path: string, body: object = {}): Promise<{ status: number; code: string }> {
  const error = await gateway.admin('POST', path, body).catch((reason: Error) => reason)
  const [, status, code] = /: (\d+) .*"code":"(\w+)"/s.exec((error as Error).message) ?? []
  return { status: Number(status), code: code ?? '' }
}

async function statusWith(key: string): Promise<number> {
  const reply = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })
  await reply.text()
  return reply.status
}

test('after a rotation, both secrets work for a day, and then the old one is refused with its time', async () => {
  const holder = await gateway.aKey()

  const { key } = await rotate(holder)
  const during = [await statusWith(holder.key), await statusWith(key)]
  gateway.clock.jump(DAY_MS)
  const old = await gateway.send(holder, chat({ model: 'gpt-x' }))

  expect(during).toEqual([200, 200])
  expect(await statusWith(key)).toBe(200)
  expect(old.headers.get('x-should-retry')).toBe('false')
  expect(await refusalOf(old)).toMatchObject({
    status: 401,
    type: 'authentication_error',
    code: 'secret_ended',
    message: expect.stringMatching(
      /^This secret of the API key was rotated out at 2027-01-16T08:00:00.\d{3}Z\. Use the new secret of the key\.$/,
    ),
  })
})

test.each([
  ['old_ends_at: now', { old_ends_at: 'now' }, 401],
  ['old_ends_in: 0', { old_ends_in: 0 }, 401],
  ['old_ends_in: 60', { old_ends_in: 60 }, 200],
  ['old_ends_at: a time', { old_ends_at: '2027-01-16T00:00:00Z' }, 200],
  ['nothing', {}, 200],
])('right after a rotation with %s, a request with the old secret gets %#', async (_, body, status) => {
  const holder = await gateway.aKey()

  const { key } = await rotate(holder, body)

  expect([await statusWith(holder.key), await statusWith(key)]).toEqual([status, 200])
})

test.each([
  { old_ends_in: -1 },
  { old_ends_in: 1.5 },
  { old_ends_in: '24h' },
  { old_ends_in: 31 * 86_400 },
  { old_ends_at: 'later' },
  { old_ends_at: '2026-01-01T00:00:00Z' },
  { old_ends_at: '2028-01-01T00:00:00Z' },
  { old_ends_in: 5, old_ends_at: 'now' },
  { ends: 5 },
])('a rotation with %p is refused and changes nothing', async body => {
  const holder = await gateway.aKey()

  expect(await refused(`keys/${holder.keyId}/rotate`, body)).toEqual({ status: 400, code: 'invalid_field' })
  expect(await gateway.admin('GET', `keys/${holder.keyId}`)).toMatchObject({
    secrets: [{ ends_at: null }],
  })
})

test('lists name both secrets with their ends, and a key is found by an ended one', async () => {
  const holder = await gateway.aKey()
  const { key } = await rotate(holder, { old_ends_at: 'now' })

  const listed = await gateway.admin<{ data: readonly Rotated[] }>('GET', `accounts/${holder.accountId}/keys`)
  const find = (name: string) => gateway.admin('POST', 'keys/find', { key: name })
  const byText = await find(holder.key)
  const byPrefix = await find(`${prefixOf(key)}…`)

  const secrets = [
    { prefix: prefixOf(key), ends_at: null, has_ended: false },
    { prefix: prefixOf(holder.key), ends_at: expect.any(String), has_ended: true },
  ]
  const own = listed.data.find(({ id }) => id === holder.keyId)
  expect(own).toMatchObject({ prefix: prefixOf(key), secrets })
  expect(byText).toMatchObject({ id: holder.keyId, secrets, found_secret: prefixOf(holder.key) })
  expect(byPrefix).toMatchObject({ id: holder.keyId, secrets, found_secret: prefixOf(key) })
  expect(JSON.stringify([listed, byText, byPrefix])).not.toContain(key)
})

test('the list of requests finds a key by the first characters of an ended secret', async () => {
  const holder = await gateway.aKey()
  const { key } = await rotate(holder, { old_ends_at: 'now' })
  const listed = (prefix: string) =>
    fetch(`${gateway.url}/v1/requests?key=${prefix}`, { headers: { 'x-api-key': key } })

  const replies = await Promise.all([key, holder.key].map(text => listed(prefixOf(text))))
  await Promise.all(replies.map(reply => reply.text()))

  expect(replies.map(({ status }) => status)).toEqual([200, 200])
})

test('a key with two secrets is not rotated before one of them is revoked', async () => {
  const holder = await gateway.aKey()
  const lost = await rotate(holder)

  const third = await refused(`keys/${holder.keyId}/rotate`)
  await gateway.admin('POST', `keys/${holder.keyId}/secrets/${prefixOf(lost.key)}/revoke`)
  const { key } = await rotate(holder)
  const last = await refused(`keys/${holder.keyId}/secrets/${prefixOf(lost.key)}9/revoke`)
  await gateway.admin('POST', `keys/${holder.keyId}/secrets/${prefixOf(holder.key)}/revoke`)
  const only = await refused(`keys/${holder.keyId}/secrets/${prefixOf(key)}/revoke`)

  expect(third).toEqual({ status: 409, code: 'rotation_running' })
  expect(last).toEqual({ status: 400, code: 'invalid_field' })
  expect(only).toEqual({ status: 409, code: 'last_secret' })
  expect([await statusWith(holder.key), await statusWith(lost.key), await statusWith(key)]).toEqual([
    401, 401, 200,
  ])
})

describe('a rotation resets nothing', () => {
  test('a rotation keeps the limits of the minute and the spent part of a budget', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 2 }, budgets: { month: '2' } })
    await (await gateway.send(holder, chat({ model: 'dollar' }))).text()

    const { key } = await rotate(holder)
    const second = await gateway.send({ key }, chat({ model: 'dollar' }))
    await second.text()
    const third = await gateway.send({ key }, chat({ model: 'dollar' }))
    gateway.clock.advance(60_000)
    const later = await gateway.send({ key }, chat({ model: 'dollar' }))

    expect(second.status).toBe(200)
    expect(await refusalOf(third)).toMatchObject({ code: 'requests_per_minute' })
    expect(await refusalOf(later)).toMatchObject({ status: 402, code: 'budget_exceeded' })
  })

  test('a rotation keeps the answers of earlier requests, and a running request is joined with the new secret', async () => {
    const holder = await gateway.aKey()
    const [answered, running] = [chat({ model: 'dollar' }), chat({ model: 'dollar' })]
    const first = await (await gateway.send(holder, answered)).text()
    await until('the answer is kept', async () => (await gateway.metric('tollgate_replay_bytes')) > 0)
    const open = gateway.gate()
    const leader = gateway.send(holder, running)
    await until('a request runs', () => gateway.upstream.requests.length === 2)

    const { key } = await rotate(holder, { old_ends_at: 'now' })
    const replay = await gateway.send({ key }, answered)
    const joined = gateway.send({ key }, running)
    await gateway.read(key, '/v1/balance')
    open()

    expect(replay.headers.get('x-service-replay')).toBe('true')
    expect(await replay.text()).toBe(first)
    expect([(await leader).status, (await joined).status]).toEqual([200, 200])
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('a rotation that ends the old secret at once lets its running stream end and be charged', async () => {
    const holder = await gateway.aKey()
    const { promise: isRotated, resolve: rotated } = Promise.withResolvers<void>()
    gateway.upstream.reply(async exchange => {
      await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n')
      await exchange.write(ROLE + HEL)
      await isRotated
      await exchange.write(FINISH + DONE)
      exchange.end()
    })
    const stream = await gateway.send(holder, chat({ model: 'dollar', stream: true }))

    const { key } = await rotate(holder, { old_ends_at: 'now' })
    rotated()
    const frames = await stream.text()

    expect(frames).toEndWith('data: [DONE]\n\n')
    await until('it is charged', async () => {
      const { available_usd: left } = await gateway.read<{ available_usd: string }>(key, '/v1/balance')
      return left === '999'
    })
  })

  test('a job of the old secret is read with the new one', async () => {
    const holder = await gateway.aKey()
    const created = await gateway.send(holder, { path: '/v1/videos', body: { model: 'film', prompt: 'x' } })
    const { id } = (await created.json()) as { id: string }

    const { key } = await rotate(holder, { old_ends_at: 'now' })

    expect(await gateway.read(key, `/v1/videos/${id}`)).toMatchObject({ id })
  })
})

test('of 24 requests with both secrets and three rotations at once, one rotation and a budget for 10 pass', async () => {
  const holder = await gateway.aKey({ budgets: { total: '10' } })
  const open = gateway.gate()
  const send = (key: string) =>
    Array.from({ length: 12 }, () => gateway.send({ key }, chat({ model: 'dollar' })))

  const withOld = send(holder.key)
  const rotations = await Promise.allSettled([rotate(holder), rotate(holder), rotate(holder)])
  const done = rotations.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const withNew = done.flatMap(({ key }) => send(key))
  await until('10 requests run', () => gateway.upstream.requests.length === 10)
  open()
  const replies = await Promise.all([...withOld, ...withNew])
  await Promise.all(replies.map(reply => reply.text()))

  expect(done).toHaveLength(1)
  expect(replies).toHaveLength(24)
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(await gateway.read(holder.key, '/v1/key')).toMatchObject({
    budget_usage: { total: { spent_usd: '10', reserved_usd: '0' } },
  })
})

describe('kill -9', () => {
  test('after a kill during a rotation, the key has one or two secrets, and a secret that was told works', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-rotation-'))
    let running = await startToKill(dataDir)
    try {
      const { accountId, key } = await makeCustomer(running)
      const [{ id } = { id: '' }] = (await keysOf(running, accountId)).data
      for (let round = 0; round < 3; round += 1) {
        const told = askRotation(running, id)
        await running.kill()
        const text = await told
        running = await startToKill(dataDir)

        const [found] = (await keysOf(running, accountId)).data
        const working = found!.secrets.filter(({ has_ended: hasEnded }) => !hasEnded)
        expect([1, 2]).toContain(working.length)
        expect(await statusAt(running, key)).toBe(200)
        if (text !== undefined) expect(await statusAt(running, text)).toBe(200)
        if (working.length === 2)
          await adminOf(running, 'POST', `keys/${id}/secrets/${working[0]!.prefix}/revoke`)
        expect(await adminOf(running, 'POST', 'verify')).toMatchObject({ ok: true })
      }
    } finally {
      await running.kill()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

const keysOf = (running: GatewayProcess, accountId: string) =>
  adminOf<{ data: readonly Rotated[] }>(running, 'GET', `accounts/${accountId}/keys`)

async function adminOf<Answer>(
  { url, adminKey }: GatewayProcess,
  method: string,
  path: string,
): Promise<Answer> {
  const reply = await fetch(`${url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}` },
  })
  return (await reply.json()) as Answer
}

/** The new secret; undefined if the gateway ended before it answered. */
async function askRotation(running: GatewayProcess, id: string): Promise<string | undefined> {
  const reply = await adminOf<{ key?: string }>(running, 'POST', `keys/${id}/rotate`).catch(() => undefined)
  return reply?.key
}

async function statusAt({ url }: GatewayProcess, key: string): Promise<number> {
  const reply = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } })
  await reply.text()
  return reply.status
}
