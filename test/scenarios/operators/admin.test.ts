import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const HELLO = { model: 'sandbox-mini', messages: [{ role: 'user', content: 'Hello' }] }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.stop())

test('switching a model off or on takes effect with the next request', async () => {
  const { key } = await gateway.account()

  await gateway.admin('PATCH', 'models/sandbox-mini', { enabled: false })
  const refused = await gateway.chat(key, HELLO)
  const listedOff = await modelIds(key)
  await gateway.admin('PATCH', 'models/sandbox-mini', { enabled: true })
  const answered = await gateway.chat(key, HELLO)
  const listedOn = await modelIds(key)

  expect(refused.status).toBe(404)
  expect(await refused.json()).toMatchObject({ error: { code: 'model_not_found' } })
  expect(listedOff).not.toContain('sandbox-mini')
  expect(answered.status).toBe(200)
  expect(listedOn).toContain('sandbox-mini')
})

test('a price change takes effect with the next request', async () => {
  const { key } = await gateway.account()
  const row = await gateway.admin<object>('GET', 'models/sandbox-mini')

  await gateway.admin('PUT', 'models/sandbox-mini', { ...row, pricing: 'free' })
  const free = await gateway.chat(key, HELLO)
  await gateway.admin('PUT', 'models/sandbox-mini', row)
  const priced = await gateway.chat(key, { ...HELLO, seed: 1 })

  expect(free.headers.get('x-service-cost-usd')).toBe('0')
  expect(Number(priced.headers.get('x-service-cost-usd'))).toBeGreaterThan(0)
})

test('a revoked key is refused from the next request on', async () => {
  const { id, key } = await gateway.account()
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', `accounts/${id}/keys`)
  const before = await gateway.chat(key, HELLO)

  await gateway.admin('DELETE', `accounts/${id}/keys/${data[0]!.id}`)
  const after = await gateway.chat(key, HELLO)

  expect([before.status, after.status]).toEqual([200, 401])
})

test('the usage of a request has its account, its key and its cost', async () => {
  const { id, key } = await gateway.account()
  const keys = await gateway.admin<{ data: { id: string }[] }>('GET', `accounts/${id}/keys`)
  const answer = await gateway.chat(key, HELLO)

  const ofAccount = await gateway.admin<{ data: object[] }>('GET', `usage?account=${id}`)
  const ofAll = await gateway.admin<{ data: object[] }>('GET', 'usage?limit=1')

  expect(ofAccount.data).toHaveLength(1)
  expect(ofAccount.data[0]).toMatchObject({
    id: answer.headers.get('x-request-id'),
    account: id,
    key: keys.data[0]!.id,
    route: 'chat',
    model: 'sandbox-mini',
    provider: 'sandbox',
    cost_usd: answer.headers.get('x-service-cost-usd'),
    source: 'reported',
  })
  expect(ofAll.data).toEqual(ofAccount.data)
})

test('the admin API and the customer routes do not accept the other one’s key', async () => {
  const { key } = await gateway.account()

  const customer = await fetch(`${gateway.url}/admin/api/accounts`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const admin = await gateway.chat('tg_admin_for_tests', HELLO)

  expect([customer.status, admin.status]).toEqual([401, 401])
  expect(customer.headers.get('x-request-id')).toStartWith('req_')
})

async function modelIds(key: string): Promise<string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}
