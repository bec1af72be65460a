import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { startToKill } from '../books/reported-costs.ts'
import { chatModel, DOLLAR_A_REQUEST } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const ROUNDS = 3
const CALLERS = 8
/** Credits that were answered and not yet told. */
const WAITING_MAX = 100
const SETTINGS = { TOLLGATE_ALLOW_PRIVATE_WEBHOOKS: 'on' }

/** Each request for a text costs one dollar. */
const CATALOG = {
  providers: [{ id: 'box', kind: 'sandbox' }],
  models: [
    chatModel('dollar', {
      upstreams: [{ provider: 'box', model: 'sandbox-chat' }],
      pricing: DOLLAR_A_REQUEST,
    }),
    {
      id: 'draw',
      kind: 'image',
      upstreams: [{ provider: 'box', model: 'sandbox-image' }],
      pricing: { per_image: '0.01' },
    },
  ],
}

function ask(gateway: GatewayProcess, path: string, body: object): Promise<Response> {
  return send(gateway, 'POST', `/admin/api/${path}`, body)
}

function send(
  { url, adminKey }: GatewayProcess,
  method: string,
  path: string,
  body?: object,
  key = adminKey,
): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function newKey(
  gateway: GatewayProcess,
  budgets: object,
): Promise<{ readonly id: string; readonly key: string }> {
  const reply = await ask(gateway, 'accounts/ada/keys', { budgets })
  return (await reply.json()) as { readonly id: string; readonly key: string }
}

async function endedJobs(gateway: GatewayProcess): Promise<readonly string[]> {
  const reply = await send(gateway, 'GET', '/admin/api/jobs?limit=500')
  const { data } = (await reply.json()) as { readonly data: readonly { id: string; state: string }[] }
  return data.filter(({ state }) => state === 'completed' || state === 'failed').map(({ id }) => id)
}

test('after each kill -9, every credit that was answered is told, and with one id however often', async () => {
  const dataDir = aDataFolder()
  /** The ids of messages by the balance after their credit. It only grows, so it names the credit. */
  const told = new Map<string, Set<string>>()
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { data } = (await request.json()) as { readonly data: { readonly available_usd: string } }
      const ids = told.get(data.available_usd) ?? new Set()
      told.set(data.available_usd, ids.add(request.headers.get('webhook-id') ?? ''))
      return new Response()
    },
  })
  const answered = new Set<string>()
  let gateway = await startToKill(dataDir, SETTINGS)
  await ask(gateway, 'accounts', { name: 'ada' })
  await ask(gateway, 'webhooks', { url: receiver.url.href, events: ['balance.granted'] })

  for (let round = 0; round < ROUNDS; round += 1) {
    const running = gateway
    let isKilled = false
    const caller = async () => {
      for (;;) {
        const reply = await ask(running, 'accounts/ada/grants', { amount_usd: '1' }).catch(() => undefined)
        const text = await reply?.text().catch(() => undefined)
        if (reply?.status !== 200 || text === undefined) return
        answered.add((JSON.parse(text) as { readonly available_usd: string }).available_usd)
        // A fast gateway takes thousands of credits before it is killed, and all must be told in the end.
        await until('messages follow', () => isKilled || answered.size < told.size + WAITING_MAX)
      }
    }
    const callers = Array.from({ length: CALLERS }, () => caller())
    const before = told.size
    await until('messages arrive', () => told.size > before + 5)
    await running.kill()
    isKilled = true
    await Promise.all(callers)
    gateway = await startToKill(dataDir, SETTINGS)
  }
  await until('every credit is told', () => [...answered].every(balance => told.has(balance)), 60_000)
  await gateway.kill()
  await receiver.stop(true)

  expect(answered.size).toBeGreaterThan(ROUNDS)
  expect([...told].filter(([, ids]) => ids.size !== 1)).toEqual([])
}, 300_000)

test('a message that was sent before a kill -9, and not marked, is sent again with its id and its bytes', async () => {
  const dataDir = aDataFolder()
  const arrived: { readonly id: string | null; readonly body: string }[] = []
  const first = Promise.withResolvers<void>()
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      arrived.push({ id: request.headers.get('webhook-id'), body: await request.text() })
      // The sender dies before it has an answer.
      if (arrived.length === 1) {
        first.resolve()
        return new Promise<Response>(() => {})
      }
      return new Response()
    },
  })
  const killed = await startToKill(dataDir, SETTINGS)
  await ask(killed, 'accounts', { name: 'ada' })
  await ask(killed, 'webhooks', { url: receiver.url.href, events: ['balance.granted'] })
  await ask(killed, 'accounts/ada/grants', { amount_usd: '1' })
  await first.promise

  await killed.kill()
  const gateway = await startToKill(dataDir, SETTINGS)
  await until('the message is sent again', () => arrived.length === 2, 60_000)
  await gateway.kill()
  await receiver.stop(true)

  expect(arrived[1]).toEqual(arrived[0])
}, 120_000)

test('after each kill -9, every budget that an answered request spent and every job that ended is told, with one id', async () => {
  const dataDir = aDataFolder()
  const catalogFile = join(dataDir, 'catalog.json')
  writeFileSync(catalogFile, JSON.stringify(CATALOG))
  const settings = { ...SETTINGS, TOLLGATE_CATALOG: catalogFile }
  /** The ids of messages by the key whose budget was reached, or the job that ended. */
  const told = new Map<string, Set<string>>()
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { data } = (await request.json()) as { readonly data: { key?: { id: string }; job?: string } }
      const subject = data.key?.id ?? data.job ?? ''
      const ids = told.get(subject) ?? new Set()
      told.set(subject, ids.add(request.headers.get('webhook-id') ?? ''))
      return new Response()
    },
  })
  const spent = new Set<string>()
  let gateway = await startToKill(dataDir, settings)
  await ask(gateway, 'accounts', { name: 'ada' })
  await ask(gateway, 'accounts/ada/grants', { amount_usd: '100000' })
  await send(gateway, 'PATCH', '/admin/api/accounts/ada', { job_events: true })
  await ask(gateway, 'webhooks', { url: receiver.url.href, events: ['budget.reached', 'job.finished'] })

  for (let round = 0; round < ROUNDS; round += 1) {
    const running = gateway
    /** Spends the whole budget of a new key, and makes an image with another one. */
    const spendAndDraw = async () => {
      const { id, key } = await newKey(running, { total: '1' })
      const chat = { model: 'dollar', messages: [{ role: 'user', content: id }] }
      const answer = await send(running, 'POST', '/v1/chat/completions', chat, key)
      await answer.text()
      if (answer.status === 200) spent.add(id)
      const artist = await newKey(running, {})
      await send(running, 'POST', '/v1/images/generations', { model: 'draw', prompt: id }, artist.key)
    }
    const caller = async () => {
      for (;;) await spendAndDraw()
    }
    const callers = Array.from({ length: CALLERS }, () => caller())
    const killed = Promise.allSettled(callers)
    const before = told.size
    await until('messages arrive', () => told.size > before + 10)
    await running.kill()
    await killed
    gateway = await startToKill(dataDir, settings)
  }
  const jobs = await endedJobs(gateway)
  await until('all is told', () => [...spent, ...jobs].every(subject => told.has(subject)), 60_000)
  await gateway.kill()
  await receiver.stop(true)

  expect(spent.size).toBeGreaterThan(ROUNDS)
  expect(jobs.length).toBeGreaterThan(ROUNDS)
  expect([...told].filter(([, ids]) => ids.size !== 1)).toEqual([])
}, 300_000)
