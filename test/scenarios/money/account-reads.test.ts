import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  startScriptedGateway,
  type ScriptedGateway,
  type UsageRow,
} from '../gateways/scripted-gateway.ts'

type Page = {
  readonly object: string
  readonly data: readonly UsageRow[]
  readonly has_more: boolean
  readonly next: string | null
}

const MINUTE = 60_000

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [chatModel('gpt-x'), chatModel('gift', { pricing: 'free' })],
  })
})
afterAll(() => gateway.stop())

const ask = (account: TestAccount, change: object = {}) =>
  gateway.chat(account.key, { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }], ...change })

const get = (key: string, path: string) => fetch(gateway.url + path, { headers: { 'x-api-key': key } })

describe('GET /v1/balance and /v1/credits', () => {
  test('GET /v1/balance and /v1/credits return the available, held and spent amounts as decimal strings', async () => {
    const ada = await gateway.account({ grant: '1.50' })
    await ask(ada)
    const taken = gateway.upstream.hold()
    const running = ask(ada, { max_tokens: 100 })
    const exchange = await taken

    const during = await gateway.read<Record<string, unknown>>(ada.key, '/v1/balance')
    await chatAnswer()(exchange)
    await running
    const after = await gateway.read<object>(ada.key, '/v1/balance')
    const credits = await gateway.read<object>(ada.key, '/v1/credits')

    const held = String(during['held_usd'])
    expect(during).toEqual({
      object: 'balance',
      currency: 'USD',
      available_usd: expect.stringMatching(/^1\.4\d+$/),
      held_usd: expect.stringMatching(/^0\.001\d+$/),
      held: { text_usd: held, media_usd: '0' },
      spent: { text_usd: '0.00007', media_usd: '0' },
    })
    expect(after).toEqual({
      object: 'balance',
      currency: 'USD',
      available_usd: '1.49986',
      held_usd: '0',
      held: { text_usd: '0', media_usd: '0' },
      spent: { text_usd: '0.00014', media_usd: '0' },
    })
    expect(credits).toEqual({ balance: '1.49986', total_used: '0.00014' })
  })

  test('GET /v1/balance and /v1/credits return a negative balance', async () => {
    const ada = await gateway.account({ grant: '0.02' })
    gateway.upstream.reply(
      chatAnswer({ usage: { prompt_tokens: 50_000, completion_tokens: 0 } }),
      chatAnswer(),
    )
    await ask(ada)

    expect(await gateway.read<object>(ada.key, '/v1/balance')).toMatchObject({ available_usd: '-0.08' })
    expect(await gateway.read<object>(ada.key, '/v1/credits')).toEqual({
      balance: '-0.08',
      total_used: '0.1',
    })
  })
})

describe('GET /v1/usage', () => {
  test('GET /v1/usage has a row for each charged request, newest first, and none for a refused request', async () => {
    const ada = await gateway.account({ grant: '1' })
    const first = await ask(ada)
    await ask(ada, { model: 'gpt-y' })
    const second = await ask(ada, { model: 'gift' })

    const page = await gateway.read<Page>(ada.key, '/v1/usage')

    const ids = [second, first].map(({ headers }) => headers.get('x-request-id')!)
    expect(page).toEqual({
      object: 'list',
      data: [
        expect.objectContaining({ id: ids[0], model: 'gift', cost_usd: '0' }),
        {
          id: ids[1]!,
          object: 'usage',
          route: 'chat',
          model: 'gpt-x',
          usage: {
            input_tokens: 10,
            output_tokens: 5,
            cached_input_tokens: 0,
            cache_write_tokens: 0,
            cache_write_1h_tokens: 0,
            audio_input_tokens: 0,
            reasoning_tokens: 0,
            audio_output_tokens: 0,
            server_tool_uses: 0,
            search_calls: 0,
            file_searches: 0,
            service_tier: null,
          },
          cost_usd: '0.00007',
          refunded_usd: '0',
          source: 'reported',
          is_clamped: false,
          project: null,
          created_at: new Date(gateway.clock.now()).toISOString(),
        } as unknown as UsageRow,
      ],
      has_more: false,
      next: null,
    })
  })

  test('GET /v1/usage has pages that contain each row once', async () => {
    const ada = await gateway.account({ grant: '1' })
    for (let count = 0; count < 7; count += 1) await ask(ada)
    const all = await gateway.read<Page>(ada.key, '/v1/usage')

    const pages: Page[] = []
    for (let cursor = ''; ;) {
      const page = await gateway.read<Page>(ada.key, `/v1/usage?limit=3${cursor}`)
      pages.push(page)
      if (page.next === null) break
      cursor = `&cursor=${page.next}`
    }

    const exact = await gateway.read<Page>(ada.key, '/v1/usage?limit=7')
    expect(exact.has_more).toBe(false)
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 1])
    expect(pages.flatMap(({ data }) => data)).toEqual([...all.data])
  })

  test('GET /v1/usage of a time range has its rows and its totals, also on later pages', async () => {
    const ada = await gateway.account({ grant: '1' })
    await ask(ada)
    const start = gateway.clock.now()
    gateway.clock.advance(MINUTE)
    for (let count = 0; count < 3; count += 1) await ask(ada)
    const [from, to] = [start + 1, gateway.clock.now() + 1].map(atMs => new Date(atMs).toISOString())
    gateway.clock.advance(MINUTE)
    await ask(ada)

    const read = (query: string) => gateway.read<Page>(ada.key, `/v1/usage?from=${from}&to=${to}${query}`)
    const page = await read('&limit=2')
    const rest = await read(`&limit=2&cursor=${page.next}`)

    expect(page).toMatchObject({
      has_more: true,
      totals: {
        from,
        to,
        charges: 3,
        input_tokens: 30,
        output_tokens: 15,
        images: 0,
        seconds: 0,
        cost_usd: '0.00021',
      },
    })
    expect([...page.data, ...rest.data].map(({ cost_usd }) => cost_usd)).toEqual(Array(3).fill('0.00007'))
    expect(rest.next).toBeNull()
  })

  test.each(['page=2', 'from=yesterday', 'to=2027-01-01T00:00:00Z', 'limit=0'])(
    'GET /v1/usage refuses ?%s, and names the parameter',
    async query => {
      const ada = await gateway.account()

      const response = await get(ada.key, `/v1/usage?${query}`)

      expect(response.status).toBe(400)
      expect(await refusalOf(response)).toMatchObject({ code: 'invalid_field' })
    },
  )

  test('GET /v1/usage is empty for an account without requests', async () => {
    const ada = await gateway.account()

    expect(await gateway.read<Page>(ada.key, '/v1/usage')).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next: null,
    })
  })

  test('GET /v1/usage never shows rows of another account', async () => {
    const ada = await gateway.account()
    const ben = await gateway.account()
    for (let count = 0; count < 2; count += 1) await ask(ada)
    const { next } = await gateway.read<Page>(ada.key, '/v1/usage?limit=1')

    expect(next).not.toBeNull()
    expect((await gateway.read<Page>(ben.key, '/v1/usage')).data).toEqual([])
    expect((await gateway.read<Page>(ben.key, `/v1/usage?cursor=${next}`)).data).toEqual([])
  })

  test.each([
    ['limit', '0'],
    ['limit', '501'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'all'],
    ['limit', ''],
    ['cursor', ''],
    ['cursor', 'req_01m7y7e9pn000erz6xh32q2gqs'],
    ['cursor', '9'.repeat(19)],
  ])('GET /v1/usage refuses the %s "%s" with the name of the parameter', async (param, value) => {
    const { key } = await gateway.account({ grant: '0' })

    const refusal = await refusalOf(await get(key, `/v1/usage?${param}=${value}`))

    expect(refusal).toMatchObject({ status: 400, code: 'invalid_field', param })
  })
})

test('reads need a key, are free, and need no balance', async () => {
  const poor = await gateway.account({ grant: '0' })
  const paths = ['/v1/balance', '/v1/credits', '/v1/usage', '/v1/models', '/v1/models/gpt-x']

  for (const path of paths) {
    expect((await get(poor.key, path)).status).toBe(200)
    expect(await refusalOf(await get('unknown', path))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  }
  expect(await poor.balance()).toMatchObject({ available_usd: '0', held_usd: '0' })
})

test('a public catalog needs no key, has an ETag, and is sent again after an edit', async () => {
  const path = `${gateway.url}/cabinet/api/public/models`
  const first = await fetch(path)
  const etag = first.headers.get('etag')!
  const before = (await first.json()) as { revision: number; data: { id: string }[] }
  const known = await fetch(path, { headers: { 'if-none-match': etag } })

  await gateway.admin('PUT', 'models/new', chatModel('new'))
  const edited = await fetch(path, { headers: { 'if-none-match': etag } })
  const after = (await edited.json()) as typeof before

  expect({ status: known.status, body: await known.text() }).toEqual({ status: 304, body: '' })
  expect(known.headers.get('x-request-id')).toStartWith('req_')
  for (const response of [first, known, edited]) {
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toBe('public, max-age=30')
  }
  expect(edited.status).toBe(200)
  expect(after.revision).toBe(before.revision + 1)
  expect(after.data.map(({ id }) => id)).toEqual([...before.data.map(({ id }) => id), 'new'])
})

describe('GET /v1/statement', () => {
  test('GET /v1/statement has the money movements, newest first, in pages, without notes and keys of the operator', async () => {
    const ada = await gateway.account({ grant: '1' })
    const charged = await ask(ada)

    const { data } = await gateway.read<{ readonly data: readonly object[] }>(ada.key, '/v1/statement')
    const first = await gateway.read<Page>(ada.key, '/v1/statement?limit=1')
    const second = await gateway.read<Page>(ada.key, `/v1/statement?limit=1&cursor=${first.next}`)

    const request = charged.headers.get('x-request-id')!
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^op_/),
        object: 'movement',
        kind: 'charge',
        amount_usd: '-0.00007',
        ref: request,
        created_at: expect.any(String),
      },
      {
        id: expect.stringMatching(/^op_/),
        object: 'movement',
        kind: 'grant',
        amount_usd: '1',
        ref: null,
        created_at: expect.any(String),
      },
    ])
    expect<readonly object[]>([...first.data, ...second.data]).toEqual([...data])
    expect(second.next).toBeNull()
  })

  test('GET /v1/statement can be limited to kinds that customers see, and to a time', async () => {
    const ada = await gateway.account({ grant: '1' })
    await ask(ada)
    const kinds = async (query: string) =>
      (await gateway.read<{ data: { kind: string }[] }>(ada.key, `/v1/statement?${query}`)).data.map(
        ({ kind }) => kind,
      )

    const refused = await get(ada.key, '/v1/statement?kind=loss')

    expect(await kinds('kind=grant')).toEqual(['grant'])
    expect(await kinds('kind=grant,charge')).toEqual(['charge', 'grant'])
    expect(await kinds('from=2000-01-01T00:00:00Z')).toEqual(['charge', 'grant'])
    expect(await kinds('to=2000-01-01T00:00:00Z')).toEqual([])
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { param: 'kind' } })
  })

  test('GET /v1/statement is only of the own account, needs a key, and refuses unknown parameters', async () => {
    const [ada, ben] = [await gateway.account({ grant: '1' }), await gateway.account({ grant: '2' })]

    const own = await gateway.read<Page>(ben.key, '/v1/statement')
    const keyless = await fetch(`${gateway.url}/v1/statement`)
    const unknown = await get(ada.key, '/v1/statement?account=x')

    expect<readonly object[]>(own.data).toEqual([expect.objectContaining({ amount_usd: '2' })])
    expect(keyless.status).toBe(401)
    expect(unknown.status).toBe(400)
  })
})
