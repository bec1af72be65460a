import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'

type Money = { id: string; amount_usd: string; available_usd: string; is_repeat: boolean }
type Refusal = { status: number; code: string; message: string }

const CHAT = { model: 'sandbox-chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
const ADMIN = { authorization: 'Bearer tg_admin_for_tests', 'content-type': 'application/json' }

const ONCE = { 'idempotency-key': 'fix-1' }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.stop())

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/admin/api/${path}`, {
    method: 'POST',
    headers: { ...ADMIN, ...headers },
    body: JSON.stringify(body),
  })
}

async function refused(path: string, body: object, headers?: Record<string, string>): Promise<Refusal> {
  const response = await post(path, body, headers)
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, ...error }
}

async function corrected(path: string, body: object, headers?: Record<string, string>): Promise<Money> {
  const response = await post(path, body, headers)
  expect(response.status).toBe(200)
  return (await response.json()) as Money
}

/** The id and cost of a request of an account. */
async function charged({ key }: TestAccount) {
  const response = await gateway.chat(key, CHAT)
  await response.arrayBuffer()
  return { id: response.headers.get('x-request-id')!, cost: response.headers.get('x-service-cost-usd')! }
}

test('a debit takes money, once for each idempotency key, and is in the statement and the audit log', async () => {
  const account = await gateway.account({ grant: '10' })
  const path = `accounts/${account.id}/debits`
  const once = { 'idempotency-key': 'fix-1' }

  const first = await corrected(path, { amount_usd: '4', note: 'paid twice' }, once)
  const second = await corrected(path, { amount_usd: '4', note: 'paid twice' }, once)
  const { data } = await gateway.admin<{ data: object[] }>('GET', `accounts/${account.id}/statement`)
  const audit = await gateway.admin<{ data: { action: string; subject: string }[] }>('GET', 'audit')
  // The gateway writes a line of its own after its first anchor, at any time.
  const own = audit.data.filter(({ subject }) => subject === account.id)

  expect(first).toMatchObject({ amount_usd: '4', available_usd: '6', is_repeat: false })
  expect(second).toEqual({ ...first, is_repeat: true })
  expect(data[0]).toMatchObject({ kind: 'debit', amount_usd: '-4', note: 'paid twice', ref: 'fix-1' })
  expect(own.map(({ action }) => action)).toEqual(['account.debit', 'account.grant', 'account.create'])
  expect(await gateway.admin<object>('POST', 'verify')).toMatchObject({ ok: true })
})

test('a debit goes below zero only if it is allowed to', async () => {
  const account = await gateway.account({ grant: '1' })
  const path = `accounts/${account.id}/debits`

  const refusal = await refused(path, { amount_usd: '3' })
  const debit = await corrected(path, { amount_usd: '3', allow_negative: true })

  expect(refusal).toMatchObject({ status: 402, code: 'insufficient_balance' })
  expect(refusal.message).toContain('1 USD available')
  expect(debit.available_usd).toBe('-2')
})

test('a refund gives back the whole charge, and the second one is refused', async () => {
  const account = await gateway.account({ grant: '5' })
  const { id, cost } = await charged(account)

  const refund = await corrected(`charges/${id}/refund`, { note: 'bad answer' })
  const again = await refused(`charges/${id}/refund`, {})
  const { data } = await gateway.admin<{ data: object[] }>('GET', `accounts/${account.id}/statement`)

  expect(refund).toMatchObject({ amount_usd: cost, available_usd: '5' })
  expect(again).toMatchObject({ status: 409, code: 'already_exists' })
  expect(again.message).toContain('Nothing is left to refund.')
  expect(data[0]).toMatchObject({ kind: 'refund', amount_usd: cost, ref: id, note: 'bad answer' })
  expect(await gateway.admin<object>('POST', 'verify')).toMatchObject({ ok: true })
})

test('a part of a charge is given back once for each key, and after that not the whole charge', async () => {
  const account = await gateway.account({ grant: '5' })
  const { id } = await charged(account)
  const path = `charges/${id}/refund`

  const keyless = await refused(path, { amount_usd: '0.00001' })
  const first = await corrected(path, { amount_usd: '0.00001' }, ONCE)
  const repeat = await corrected(path, { amount_usd: '0.00001' }, ONCE)
  const reuse = await refused(path, { amount_usd: '0.00002' }, ONCE)
  const response = await post(path, {})
  const whole = (await response.json()) as { error: { message: string }; refundable_usd: string }

  expect(keyless).toMatchObject({ status: 400, code: 'invalid_field' })
  expect(keyless.message).toContain('"Idempotency-Key"')
  expect(repeat).toEqual({ ...first, is_repeat: true })
  expect(reuse).toMatchObject({ status: 409, code: 'idempotency_key_reuse' })
  expect(response.status).toBe(409)
  expect(whole.error.message).toContain(`at most ${whole.refundable_usd}, which is left`)
  const rest = { 'idempotency-key': 'fix-2' }
  expect(await corrected(path, { amount_usd: whole.refundable_usd }, rest)).toMatchObject({
    available_usd: '5',
  })
  expect(await gateway.admin<object>('POST', 'verify')).toMatchObject({ ok: true })
})

test('a part of an image job is refunded by the id of the job', async () => {
  const account = await gateway.account({ grant: '5' })
  const reply = await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-image', prompt: 'A red fox' }),
  })
  await reply.arrayBuffer()
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', `jobs?account=${account.id}`)
  const { id } = data[0]!

  const refund = await corrected(`charges/${id}/refund`, { amount_usd: '0.000000001' }, ONCE)
  const statement = await gateway.admin<{ data: object[] }>('GET', `accounts/${account.id}/statement`)

  expect(refund.amount_usd).toBe('0.000000001')
  expect(statement.data[0]).toMatchObject({ kind: 'refund', ref: id })
})

test.each<[string, object, number, string]>([
  ['accounts/{account}/debits', {}, 400, 'invalid_field'],
  ['accounts/{account}/debits', { amount_usd: '0' }, 400, 'invalid_field'],
  ['accounts/{account}/debits', { amount_usd: '1', allow_negative: 'yes' }, 400, 'invalid_field'],
  [
    'accounts/{account}/debits',
    { amount_usd: '630125560219032224.649362896', allow_negative: true },
    400,
    'invalid_field',
  ],
  ['accounts/nobody/debits', { amount_usd: '1' }, 404, 'not_found'],
  ['charges/{charge}/refund', { amount_usd: '1000' }, 400, 'invalid_field'],
  ['charges/{charge}/refund', { amount_usd: '0' }, 400, 'invalid_field'],
  ['charges/req_00000000000000000000000000/refund', {}, 404, 'not_found'],
  ['charges/nonsense/refund', {}, 404, 'not_found'],
])('POST %s with %p is refused and moves nothing', async (path, body, status, code) => {
  const account = await gateway.account({ grant: '1' })
  const { id } = await charged(account)
  const before = await account.balance()

  const refusal = await refused(path.replace('{account}', account.id).replace('{charge}', id), body)

  expect(refusal).toMatchObject({ status, code })
  expect(await account.balance()).toEqual(before)
})

test('a suspended account is refused with 401 on every route, and served again after it is resumed', async () => {
  const account = await gateway.account({ grant: '1' })
  const other = await gateway.account({ grant: '1' })
  const balanceOf = ({ key }: TestAccount) =>
    fetch(`${gateway.url}/v1/balance`, { headers: { authorization: `Bearer ${key}` } })

  const suspended = await gateway.admin<object>('POST', `accounts/${account.id}/suspend`)
  const chat = await gateway.chat(account.key, CHAT)
  const balance = await balanceOf(account)
  const others = await gateway.chat(other.key, CHAT)
  const shown = await gateway.admin<object>('GET', `accounts/${account.id}`)
  const resumed = await gateway.admin<object>('POST', `accounts/${account.id}/resume`)
  const after = await gateway.chat(account.key, CHAT)

  expect(suspended).toMatchObject({ suspended_at: expect.stringMatching(/^20/) })
  expect([chat.status, balance.status, others.status, after.status]).toEqual([401, 401, 200, 200])
  expect(chat.headers.get('x-should-retry')).toBe('false')
  expect(await chat.json()).toMatchObject({
    error: { code: 'account_suspended', type: 'authentication_error' },
  })
  expect(shown).toMatchObject(suspended)
  expect(resumed).toMatchObject({ suspended_at: null })
})

test('a request that runs while its account is suspended is settled', async () => {
  const account = await gateway.account({ grant: '1' })
  const response = await gateway.chat(account.key, { ...CHAT, stream: true })

  await gateway.admin('POST', `accounts/${account.id}/suspend`)
  const text = await response.text()

  expect(text).toContain('[DONE]')
  expect(Number((await account.balance()).available_usd)).toBeLessThan(1)
})
