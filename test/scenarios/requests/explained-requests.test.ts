import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  startScriptedGateway,
  UPSTREAM_KEY,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const HELLO = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }
const READ_MS = 300_000
const UNKNOWN = `req_${'0'.repeat(25)}1`

type Page = {
  readonly id: string
  readonly outcome: string
  readonly why: readonly string[]
  readonly account_name?: string
  readonly charge: Readonly<Record<string, unknown>> | null
  readonly hold: object | null
  readonly job: Readonly<Record<string, unknown>> | null
  readonly undelivered_attempts?: readonly object[]
}

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    providers: () => [{ id: 'box', kind: 'sandbox', routes: ['chat'] }],
    models: [
      chatModel('gpt-x', {
        pricing: {
          input_per_mtok: '2',
          output_per_mtok: '10',
          tiers: [{ above_input_tokens: 9, input_per_mtok: '3' }],
        },
      }),
      chatModel('gratis', { pricing: 'free' }),
      {
        id: 'draw',
        kind: 'image',
        upstreams: [{ provider: 'box', model: 'image' }],
        pricing: { per_image: '0.25' },
        params: {},
      },
    ],
    environment: { TOLLGATE_RECONCILE_EVERY_S: '86400' },
  })
})
beforeEach(async () => {
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

const own = (id: string, account = ada) => gateway.read<Page>(account.key, `/v1/requests/${id}`)
const forAdmin = (id: string) => gateway.admin<Page>('GET', `requests/${id}`)

/** The id of a request that the upstream answered. */
async function aChargedRequest(body: object = HELLO): Promise<string> {
  gateway.upstream.reply(chatAnswer())
  const response = await gateway.chat(ada.key, body)
  await response.text()
  return response.headers.get('x-request-id')!
}

async function movements(): Promise<readonly { readonly id: string; readonly kind: string }[]> {
  const page = await gateway.read<{ data: { id: string; kind: string }[] }>(ada.key, '/v1/statement')
  return page.data
}

test('a charged request shows its tokens, its prices and each step of its cost', async () => {
  const id = await aChargedRequest()

  expect(await own(id)).toMatchObject({
    id,
    object: 'request_page',
    outcome: 'charged',
    why: expect.arrayContaining([
      '0.00008 USD was charged for 10 input tokens and 5 output tokens.',
    ]) as string[],
    charge: {
      cost_usd: '0.00008',
      source: 'reported',
      usage: { input_tokens: 10, output_tokens: 5 },
      shortfall_usd: '0',
      pricing: 'tariff',
      refunds: [],
      arithmetic: {
        items: [
          { item: 'input', quantity: 10, per: 1_000_000, price_usd: '3', amount_usd: '0.00003' },
          { item: 'output', quantity: 5, per: 1_000_000, price_usd: '10', amount_usd: '0.00005' },
        ],
        sum_usd: '0.00008',
        total_usd: '0.00008',
        above_input_tokens: 9,
        service_tier: null,
      },
    },
    job: null,
  })
})

test('a request for a free model shows that it has no prices', async () => {
  const id = await aChargedRequest({ ...HELLO, model: 'gratis' })

  expect((await own(id)).charge).toMatchObject({ cost_usd: '0', pricing: 'free', arithmetic: null })
})

test('only the operator sees the provider of a request', async () => {
  const id = await aChargedRequest()

  const [customer, admin] = [JSON.stringify(await own(id)), await forAdmin(id)]

  expect(customer).not.toMatch(/provider|upstream|"main"|undelivered/)
  expect(customer).not.toContain(UPSTREAM_KEY)
  expect(admin).toMatchObject({ charge: { provider: 'main', provider_cost_usd: null } })
  expect(admin.account_name).toMatch(/^account \d+$/)
})

test('a request is found by the ids of its charge and its refund in the statement', async () => {
  const id = await aChargedRequest()
  await gateway.admin('POST', `charges/${id}/refund`, { note: 'an apology' })
  const [refund, charge] = await movements()

  const page = await own(refund!.id)

  expect(await own(charge!.id)).toEqual(page)
  expect(await own(id.replace('req_', 'hold_'))).toEqual(page)
  expect(page).toMatchObject({
    id,
    outcome: 'charged',
    why: expect.arrayContaining(['0.00008 USD of it was refunded.']) as string[],
    charge: {
      cost_usd: '0.00008',
      refunded_usd: '0.00008',
      refunds: [{ id: refund!.id, amount_usd: '0.00008' }],
    },
  })
})

test('the notes of refunds and debits are only for operators', async () => {
  const id = await aChargedRequest()
  await gateway.admin('POST', `charges/${id}/refund`, { note: 'threatened us' })
  await gateway.admin('POST', `accounts/${ada.id}/debits`, { amount_usd: '1', note: 'fraud' })
  const [debit, refund] = await movements()

  const pages = [await own(debit!.id), await own(refund!.id)]

  expect(JSON.stringify(pages)).not.toMatch(/note|threatened us|fraud/)
  expect(await forAdmin(debit!.id)).toMatchObject({ note: 'fraud' })
  expect(await forAdmin(id)).toMatchObject({ charge: { refunds: [{ note: 'threatened us' }] } })
})

test('a late answer shows that its charge was given back, and why', async () => {
  const taken = gateway.upstream.hold()
  const waiting = gateway.chat(ada.key, HELLO)
  const exchange = await taken
  gateway.clock.advance(READ_MS)
  const id = (await waiting).headers.get('x-request-id')!
  await chatAnswer()(exchange)
  await until('the late call has ended', async () => (await gateway.metric('tollgate_late_calls')) === 0)
  await gateway.admin('POST', 'reconcile')

  const [customer, admin] = [await own(id), await forAdmin(id)]

  expect(customer).toMatchObject({ outcome: 'given_back', charge: { cost_usd: '0.00008', refunds: [] } })
  expect(customer.why.join(' ')).toContain('The charge was given back in the same step, so it cost nothing.')
  expect(customer).not.toContainKey('undelivered_attempts')
  expect(admin.undelivered_attempts).toMatchObject([
    { number: 1, provider: 'main', state: 'compensated', cost_usd: '0.00008', input_tokens: 10 },
  ])
})

test('a job is found by its id and by that of its request, with its hold and its charge', async () => {
  const response = await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key },
    body: JSON.stringify({ model: 'draw', prompt: 'A lighthouse' }),
  })
  await response.text()
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', 'jobs?limit=1')
  const jobId = data[0]!.id
  const requestId = response.headers.get('x-request-id')!

  const page = await own(jobId)

  expect(await own(requestId)).toEqual(page)
  expect(page).toMatchObject({
    id: requestId,
    outcome: 'charged',
    hold: { amount_usd: '0.25', state: 'captured' },
    charge: { cost_usd: '0.25', arithmetic: { items: [{ item: 'image', quantity: 1, per: 1 }] } },
    job: { id: jobId, state: 'completed', failure: null },
  })
  expect(page.job).not.toContainKeys(['provider', 'problem', 'upstream_id'])
  expect((await forAdmin(jobId)).job).toMatchObject({
    provider: 'box',
    why: 'The provider finished the job.',
    history: expect.arrayContaining([expect.objectContaining({ state: 'completed' })]) as object[],
  })
})

test('a credit is found by its id in the statement', async () => {
  const [credit] = await movements()

  expect(await own(credit!.id)).toMatchObject({
    id: credit!.id,
    object: 'movement_page',
    kind: 'grant',
    amount_usd: '10',
  })
})

describe('the ids of another account', () => {
  test('requests, credits and unknown ids get the same 404', async () => {
    const id = await aChargedRequest()
    const [charge, credit] = await movements()
    const eve = await gateway.account()
    const ask = (asked: string) =>
      fetch(`${gateway.url}/v1/requests/${asked}`, { headers: { 'x-api-key': eve.key } })

    const unknown = await refusalOf(await ask(UNKNOWN))

    expect(unknown).toMatchObject({ status: 404, code: 'not_found' })
    expect(unknown.message).toStartWith(
      'There is no request with this id. An id is that of a request (req_…), a job (img_… or vid_…), a hold (hold_…) or a line of the statement (op_…). A request with an unknown or revoked API key is not kept.',
    )
    for (const other of [id, charge!.id, credit!.id, 'nonsense'])
      expect(await refusalOf(await ask(other))).toEqual(unknown)
  })
})

/** Parameters that both lists refuse, with the sentences about them. */
const wrongFilters: Readonly<Record<string, { query: string; param: string; message: string }>> = {
  'an unknown parameter': {
    query: 'colour=red',
    param: 'colour',
    message: '"colour" is not a parameter of this route; the parameters are ',
  },
  'an unknown order': {
    query: 'sort=price',
    param: 'sort',
    message: '"sort" must be one of newest, cost, duration.',
  },
  'a tag without a value': {
    query: 'tag=team',
    param: 'tag',
    message: '"tag" must be one name and value, such as team=search.',
  },
  'two tags': {
    query: 'tag=a=1&tag=b=2',
    param: 'tag',
    message: '"tag" must be one name and value, such as team=search.',
  },
  'a code with spaces': {
    query: 'code=no%20money',
    param: 'code',
    message: '"code" must be the code of an error, such as insufficient_balance.',
  },
  'a class of statuses': {
    query: 'status=4xx',
    param: 'status',
    message: '"status" must be the status of a reply, such as 429.',
  },
  'another word for true': {
    query: 'failed=yes',
    param: 'failed',
    message: '"failed" must be true or false.',
  },
  'an empty model': {
    query: 'model=',
    param: 'model',
    message: '"model" must be a name of 1 to 200 characters.',
  },
  'a time of another form': {
    query: 'from=monday',
    param: 'from',
    message: '"from" must be a time in RFC 3339, such as 2026-11-01T00:00:00Z.',
  },
  'a page that is too long': {
    query: 'limit=501',
    param: 'limit',
    message: '"limit" must be a whole number from 1 to 500.',
  },
}

describe.each(Object.entries(wrongFilters))('%s in a list of requests', (_, { query, param, message }) => {
  test('is refused with the parameter and what would be right', async () => {
    const customer = await fetch(`${gateway.url}/v1/requests?${query}`, {
      headers: { 'x-api-key': ada.key },
    })
    const admin = await fetch(`${gateway.url}/admin/api/requests?${query}`, {
      headers: { authorization: 'Bearer tg_admin_for_tests' },
    })

    for (const response of [customer, admin]) {
      const refusal = await refusalOf(response)
      expect(refusal).toMatchObject({ status: 400, code: 'invalid_field', param })
      expect(refusal.message).toStartWith(message)
    }
  })
})

test('a list takes the key of the account by its id or first characters, and never the text of a key', async () => {
  const eve = await gateway.account()
  const ask = async (name: string) =>
    fetch(`${gateway.url}/v1/requests?key=${name}`, { headers: { 'x-api-key': ada.key } })
  const { id: own } = await gateway.read<{ id: string }>(ada.key, '/v1/key')
  const { id: other } = await gateway.read<{ id: string }>(eve.key, '/v1/key')

  expect((await ask(own)).status).toBe(200)
  expect((await ask(ada.key.slice(0, 12))).status).toBe(200)
  expect(await refusalOf(await ask(other))).toMatchObject({
    status: 400,
    param: 'key',
    message: '"key" must be the id (key_…) or the first 12 characters of one key of this account.',
  })
  expect(await refusalOf(await ask(ada.key))).toMatchObject({
    status: 400,
    message: '"key" must not be the text of a key, because URLs get into logs.',
  })
})

test('reading a request counts as a request of the key', async () => {
  const id = await aChargedRequest()
  const { id: key } = await gateway.read<{ id: string }>(ada.key, '/v1/key')
  await gateway.admin('PATCH', `keys/${key}`, { limits: { requests_per_minute: 1 } })
  await own(id)

  const refused = await fetch(`${gateway.url}/v1/requests`, { headers: { 'x-api-key': ada.key } })

  expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'requests_per_minute' })
})
