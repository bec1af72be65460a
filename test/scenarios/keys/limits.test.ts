import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chat,
  billableRoutes,
  startLimitedGateway,
  type Holder,
  type LimitedGateway,
} from '../gateways/limited-gateway.ts'
import { refusalOf } from './refusal-of.ts'
import { until } from '../../support/until.ts'

/** All tests use one gateway, because each has accounts of its own and leaves no request open. */
let gateway: LimitedGateway

beforeAll(async () => {
  gateway = await startLimitedGateway()
})
afterAll(() => gateway.stop())

/** Sends a request that keeps its slots until the returned function is called. */
async function aRunningRequest(holder: Holder): Promise<() => Promise<void>> {
  const requestsBefore = gateway.upstream.requests.length
  const open = gateway.gate()
  const running = gateway.send(holder, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === requestsBefore + 1)
  return async () => {
    open()
    await (await running).text()
  }
}

describe.each(Object.entries(billableRoutes))('%s', (name, request) => {
  const isMedia = /^(images|videos)/.test(name)

  test('a request is refused above the requests of a minute', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 1 } })
    const first = await gateway.send(holder, request())
    await first.text()

    const second = await gateway.send(holder, request())

    expect(first.status).toBeLessThan(300)
    expect(second.headers.get('retry-after')).toBe('60')
    expect(second.headers.get('x-should-retry')).toBe('true')
    expect(await refusalOf(second)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'requests_per_minute',
      message: 'This API key may send 1 request a minute. Retry in 60 s.',
    })
  })

  test.each([
    ['day', '2027-01-16T00:00:00Z'],
    ['week', '2027-01-18T00:00:00Z'],
    ['month', '2027-02-01T00:00:00Z'],
    ['total', undefined],
  ])('a request is refused by a budget of a %s that it can never fit', async (period, resetsAt) => {
    const holder = await gateway.aKey({ budgets: { [period]: '0' } })

    const refused = await gateway.send(holder, request())

    const body = (await refused.clone().json()) as { remaining_usd: string; resets_at?: string }
    expect(await refusalOf(refused)).toMatchObject({ status: 402, code: 'budget_exceeded' })
    expect([body.remaining_usd, body.resets_at]).toEqual(['0', resetsAt])
    expect(await gateway.admin('GET', `accounts/${holder.accountId}`)).toMatchObject({ held_usd: '0' })
  })

  test('a request is refused while another request has its only slot', async () => {
    const holder = await gateway.aKey({ limits: { concurrent_requests: 1 } })
    const end = await aRunningRequest(holder)

    const refused = await gateway.send(holder, request())

    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'concurrent_requests' })
    await end()
    const next = await gateway.send(holder, request())
    await next.text()
    expect(next.status).toBeLessThan(300)
  })

  test.skipIf(isMedia)('a request is refused above the tokens of a minute', async () => {
    const holder = await gateway.aKey({ limits: { tokens_per_minute: 1 } })

    const refused = await gateway.send(holder, request())

    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'tokens_per_minute' })
  })

  test('a request is refused while a request of another key of its project has the only slot', async () => {
    const [first, second] = await gateway.keysOfProject({ limits: { concurrent_requests: 1 } })
    const end = await aRunningRequest(first)

    const refused = await gateway.send(second, request())

    expect(await refusalOf(refused)).toMatchObject({
      status: 429,
      code: 'concurrent_requests',
      message: expect.stringContaining('The project of this API key may have 1 open request or job'),
    })
    await end()
    const next = await gateway.send(second, request())
    await next.text()
    expect(next.status).toBeLessThan(300)
  })

  test.each([
    ['requests_per_minute', 429, { limits: { requests_per_minute: 1 } }],
    ['budget_exceeded', 402, { budgets: { month: '0' } }],
    ...(isMedia ? [] : [['tokens_per_minute', 429, { limits: { tokens_per_minute: 1 } }] as const]),
  ])('a request is refused by the project of its key with %s', async (code, status, terms) => {
    const [first, second] = await gateway.keysOfProject(terms)
    await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': first.key } })

    const refused = await gateway.send(second, request())

    expect(await refusalOf(refused)).toMatchObject({
      status,
      code,
      message: expect.stringContaining('The project of this API key'),
    })
  })
})

/** The scopes beside a key and a project: how they get their terms, and how a refusal names them. */
const widerScopes = {
  account: {
    give: ({ accountId }: Holder, _: string, terms: object) => [`accounts/${accountId}`, terms] as const,
    words: /^This account (?:may|has) /,
  },
  'account with its model': {
    give: ({ accountId }: Holder, model: string, terms: object) =>
      [`accounts/${accountId}`, { per_model: { [model]: terms } }] as const,
    words: /^This account with the model /,
  },
  'key with its model': {
    give: ({ keyId }: Holder, model: string, terms: object) =>
      [`keys/${keyId}`, { per_model: { [model]: terms } }] as const,
    words: /^This API key with the model /,
  },
}

const ratesAndBudgets = [
  ['requests_per_minute', { limits: { requests_per_minute: 1 } }],
  ['tokens_per_minute', { limits: { tokens_per_minute: 1 } }],
  ...['day', 'week', 'month', 'total'].map(
    period => ['budget_exceeded', { budgets: { [period]: '0' } }] as const,
  ),
] as const

describe.each(Object.entries(billableRoutes))('the wider scopes of %s', (name, request) => {
  const isMedia = /^(images|videos)/.test(name)

  test.each(Object.entries(widerScopes))(
    'a request is refused by each rate and budget of its %s',
    async (_, { give, words }) => {
      const expected = ratesAndBudgets.filter(([code]) => !isMedia || code !== 'tokens_per_minute')
      const refusals = []
      for (const [code, terms] of expected) {
        const holder = await gateway.aKey()
        const asked = request()
        const { model } = asked.body as { model: string }
        const [path, body] = give(holder, model, terms)
        await gateway.admin('PATCH', path, body)
        if (code === 'requests_per_minute') await (await gateway.send(holder, request())).text()

        refusals.push(await refusalOf(await gateway.send(holder, asked)))
      }

      expect(refusals).toMatchObject(
        expected.map(([code]) => ({ code, message: expect.stringMatching(words) })),
      )
    },
  )

  test('a request is refused while a request of another key of its account has the only slot', async () => {
    const first = await gateway.aKey()
    const second = await gateway.aKeyOf(first.accountId)
    await gateway.admin('PATCH', `accounts/${first.accountId}`, { limits: { concurrent_requests: 1 } })
    const end = await aRunningRequest(first)

    const refused = await gateway.send(second, request())

    await end()
    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'concurrent_requests' })
  })
})
