import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer, json, sse } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { HEL, ROLE } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

type Row = { readonly id: string; readonly status: number; readonly error_code: string | null }
type Page = {
  readonly id: string
  readonly outcome: string
  readonly why: readonly string[]
  readonly request: Readonly<Record<string, unknown>>
  readonly hold: Readonly<Record<string, unknown>> | null
}

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [chatModel('gpt-x'), chatModel('gpt-y')],
    environment: {
      TOLLGATE_HOLD_WAIT_S: '0',
      TOLLGATE_REPLAY_TTL_S: '60',
      TOLLGATE_REQUEST_RECORDS_DAYS: '7',
    },
  })
})
beforeEach(async () => {
  ada = await gateway.account({ grant: '1' })
})
afterAll(() => gateway.stop())

let asked = 0

/** Sends a request that is no replay, and returns its id when it is recorded. */
async function send(body: object = {}, account = ada, headers: Record<string, string> = {}): Promise<string> {
  const messages = [{ role: 'user', content: `request ${(asked += 1)}` }]
  return recorded(
    await gateway.chat(account.key, { model: 'gpt-x', max_tokens: 5, messages, ...body }, headers),
    account,
  )
}

async function recorded(response: Response, account: TestAccount): Promise<string> {
  await response.text()
  const id = response.headers.get('x-request-id')!
  await until('the request is recorded', async () => (await ids('', account)).includes(id))
  return id
}

async function ids(query = '', account = ada): Promise<readonly string[]> {
  const { data } = await gateway.read<{ data: Row[] }>(account.key, `/v1/requests?${query}`)
  return data.map(({ id }) => id)
}

const own = (id: string) => gateway.read<Page>(ada.key, `/v1/requests/${id}`)

test('a charged request shows its reply and its hold', async () => {
  gateway.upstream.reply(chatAnswer())
  const id = await send()

  const page = await own(id)

  expect(page).toMatchObject({
    id,
    outcome: 'charged',
    request: { id, status: 200, error_code: null, model: 'gpt-x', cost_usd: '0.00007' },
    hold: { state: 'captured' },
  })
  expect(page.why).toEqual(['0.00007 USD was charged for 10 input tokens and 5 output tokens.'])
})

test('a refused request shows what it had to hold, and what was left', async () => {
  const poor = await gateway.account({ grant: '0' })
  const id = await send({}, poor)

  const page = await gateway.read<Page>(poor.key, `/v1/requests/${id}`)

  expect(page).toMatchObject({
    outcome: 'refused',
    request: { status: 402, error_code: 'insufficient_balance', available_usd: '0' },
    hold: null,
  })
  expect(page.why).toEqual([
    'The reply was 402 with the code insufficient_balance.',
    expect.stringMatching(
      /^It could cost up to 0\.\d+ USD, and 0\.00 USD was left for it\. Nothing was charged\.$/,
    ) as string,
  ])
})

test('a replay shows that it was free, which request paid, and the same end user', async () => {
  gateway.upstream.reply(chatAnswer())
  const user = `u-${(asked += 1)}`
  const body = { user, messages: [{ role: 'user', content: 'the same' }] }
  const first = await send(body)
  const id = await send(body)

  expect(await own(id)).toMatchObject({
    outcome: 'replayed',
    why: [`It got the answer of ${first}. A replay is free and takes nothing of a limit.`],
    request: { replay_of: first, user },
    charge: null,
  })
  expect(await ids(`user=${user}`)).toEqual([id, first])
})

test('a stream that broke shows that a part was charged', async () => {
  gateway.upstream.reply(sse([ROLE + HEL]))
  const id = await send({ stream: true })

  const page = await own(id)

  expect(page).toMatchObject({ outcome: 'charged', request: { status: 200, error_code: 'upstream_error' } })
  expect(page.why[0]).toBe('The stream broke after it had begun, with the code upstream_error.')
})

test('only the operator sees which upstream failed, and how', async () => {
  gateway.upstream.reply(json({ error: { message: 'out of order' } }, { status: 500 }))
  const id = await send()

  const [customer, admin] = [await own(id), await gateway.admin<Page>('GET', `requests/${id}`)]

  expect(customer).toMatchObject({ outcome: 'failed', request: { status: 502 } })
  expect(JSON.stringify(customer)).not.toMatch(/"main"|attempts|out of order/)
  expect(admin.request).toMatchObject({ attempts: [{ provider: 'main', reason: 'server' }] })
  expect(admin.why).toContain('Upstreams that failed: main (server).')
})

describe('a list of requests', () => {
  test('has the requests of the account, newest first, in pages', async () => {
    gateway.upstream.reply(chatAnswer())
    const eve = await gateway.account({ grant: '1' })
    const [first, second, third] = [await send(), await send(), await send()]
    await send({}, eve)

    expect(await ids()).toEqual([third, second, first])
    const page = await gateway.read<{ data: Row[]; next: string }>(ada.key, '/v1/requests?limit=2')
    expect(page.data.map(({ id }) => id)).toEqual([third, second])
    expect(await ids(`limit=2&cursor=${page.next}`)).toEqual([first])
  })

  test('is limited by each filter', async () => {
    gateway.upstream.reply(chatAnswer())
    const tagged = await send({ user: 'u-1' }, ada, { 'x-service-tags': 'team=red' })
    const other = await send({ model: 'gpt-y' })
    const unknown = await send({ model: 'nothing' })

    const found = {
      'model=gpt-y': [other],
      'tag=team=red': [tagged],
      'user=u-1': [tagged],
      'failed=true': [unknown],
      'failed=false': [unknown, other, tagged],
      'code=model_not_found': [unknown],
      'code=insufficient_balance': [],
      'sort=cost&limit=2': expect.not.arrayContaining([unknown]) as string[],
      'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z': [],
    }
    for (const [query, expected] of Object.entries(found))
      expect({ query, ids: await ids(query) }).toEqual({ query, ids: expected as string[] })
  })

  test('of the operator names accounts, and is limited by account and key', async () => {
    gateway.upstream.reply(chatAnswer())
    const eve = await gateway.account({ grant: '1' })
    const [ofAda, ofEve] = [await send(), await send({}, eve)]
    const { id: key } = await gateway.read<{ id: string }>(eve.key, '/v1/key')
    const list = async (query: string) =>
      (await gateway.admin<{ data: (Row & { account: string })[] }>('GET', `requests?${query}`)).data

    expect((await list(`account=${ada.id}`)).map(({ id }) => id)).toEqual([ofAda])
    expect(await list(`key=${key}`)).toMatchObject([{ id: ofEve, account: eve.id, key }])
    expect((await list('limit=2')).map(({ id }) => id)).toEqual([ofEve, ofAda])
  })
})
