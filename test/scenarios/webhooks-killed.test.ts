import { expect, test } from 'bun:test'
import { aDataFolder } from '../support/data-folder.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { startToKill } from './reported-costs.ts'
import { until } from './until.ts'

const ROUNDS = 3
const CALLERS = 8
const SETTINGS = { TOLLGATE_ALLOW_PRIVATE_WEBHOOKS: 'on' }

function ask(gateway: GatewayProcess, path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/admin/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify(body),
  })
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
    const caller = async () => {
      for (;;) {
        const reply = await ask(running, 'accounts/ada/grants', { amount_usd: '1' }).catch(() => undefined)
        const text = await reply?.text().catch(() => undefined)
        if (reply?.status !== 200 || text === undefined) return
        answered.add((JSON.parse(text) as { readonly available_usd: string }).available_usd)
      }
    }
    const callers = Array.from({ length: CALLERS }, () => caller())
    const before = told.size
    await until('messages arrive', () => told.size > before + 5)
    await running.kill()
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
