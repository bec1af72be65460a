import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { answer, html, json, resetBeforeHeaders, silence } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf, type Settlement } from '../streams/settled-stream.ts'
import { routeModels, routeProviders, textRouteCases, type TextRouteCase } from './text-routes.ts'
import { until } from '../../support/until.ts'

const READ_MS = 300_000

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: routeModels,
    providers: () => routeProviders,
    environment: { TOLLGATE_REPLAY_TTL_S: '60' },
  })
})
afterAll(() => gateway.stop())

afterEach(() => expectNothingHeld(gateway, ada))

/** Sends one request of a route with its own account. */
async function ask(
  { path, model, request }: TextRouteCase,
  { body, key, grant = '10', signal }: Asking = {},
): Promise<Response> {
  ada = await gateway.account({ grant })
  return send(path, body ?? { model, ...request }, { key: key ?? ada.key, ...(signal && { signal }) })
}

type Asking = {
  readonly body?: object | string
  readonly key?: string
  readonly grant?: string
  readonly signal?: AbortSignal
}

function send(path: string, body: object | string, { key, signal }: { key: string; signal?: AbortSignal }) {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** The cost in the body of any route, or null. */
function costIn(body: string): string | null {
  return /"cost_usd":"([^"]*)"/.exec(body)?.[1] ?? null
}

describe.each(textRouteCases.map(route => [route.title, route] as const))('%s:', (_title, route) => {
  const inputOnly = route.isInputOnly === true

  describe('an answer is charged', () => {
    const rows: readonly (readonly [string, Reply, Settlement])[] = [
      [
        'the price of its usage',
        route.answer({ input: 10, output: 5 }),
        charge(inputOnly ? '0.00002' : '0.00007'),
      ],
      ['nothing for a usage of zero', route.answer({ input: 0, output: 0 }), charge('0')],
      [
        'the price of its clamped usage',
        route.answer({ input: -10, output: 5 }),
        clamped(inputOnly ? '0' : '0.00005'),
      ],
      ['no more input than the context window', route.answer({ input: 1e9, output: 0 }), clamped('0.2')],
    ]

    test.each(rows)(
      'an answer is charged %s, with the cost in its header and in its body',
      async (_title, reply, settlement) => {
        gateway.upstream.reply(reply)

        const response = await ask(route)

        expect(response.status).toBe(200)
        expect(response.headers.get('x-service-cost-usd')).toBe(settlement.cost_usd)
        expect(costIn(await response.text())).toBe(settlement.cost_usd)
        expect(await settlementOf(gateway, ada)).toEqual(settlement)
        expect(gateway.upstream.requests.at(-1)).toMatchObject({ method: 'POST', path: route.upstreamPath })
      },
    )

    test('an answer is charged an estimate if there is no usage, and names no cost', async () => {
      gateway.upstream.reply(route.answer(null))

      const response = await ask(route)

      expect(response.status).toBe(200)
      expect(response.headers.get('x-service-cost-usd')).toBeNull()
      expect(costIn(await response.text())).toBeNull()
      const settlement = await settlementOf(gateway, ada)
      expect(settlement).toMatchObject({ source: 'estimated', is_clamped: false })
      expect(Number(settlement!.cost_usd)).toBeWithin(0.000001, 0.0001)
    })
  })

  describe('nothing is charged and nothing is held after', () => {
    const rows: readonly (readonly [string, Reply, number, string | undefined])[] = [
      ['a request that the upstream refuses', refused(400), 400, 'context_length_exceeded'],
      ['a request that the upstream cannot process', refused(422), 422, 'context_length_exceeded'],
      ['a key that the upstream does not know', refused(401), 502, 'upstream_error'],
      ['a model that the upstream does not know', refused(404), 502, 'upstream_error'],
      ['a rate limit', refused(429, { 'retry-after': '7' }), 429, 'rate_limited'],
      ['a failure of the upstream', refused(500), 502, 'upstream_error'],
      ['an HTML page', html(), 502, 'upstream_error'],
      ['JSON that is not an answer of this route', json({ detail: 'hello' }), 502, 'upstream_error'],
      ['an incomplete answer', answer('{"id":"x","choices":[{"ind'), 502, 'upstream_error'],
      ['a connection that breaks', resetBeforeHeaders(), 502, 'upstream_error'],
    ]

    test.each(rows)(
      'nothing is charged and nothing is held after %s',
      async (_title, reply, status, code) => {
        gateway.upstream.reply(reply)

        const response = await ask(route)

        expect(response.headers.get('retry-after')).toBe(status === 429 ? '7' : null)
        await expectRefusal(response, { status, code })
      },
    )

    test('nothing is charged and nothing is held after silence until the read timeout', async () => {
      gateway.upstream.reply(silence())
      const before = gateway.upstream.requests.length
      const asked = ask(route)
      await until('the upstream was asked', () => gateway.upstream.requests.length > before)

      gateway.clock.advance(READ_MS)

      await expectRefusal(await asked, { status: 504, code: 'upstream_timeout' })
    })
  })

  describe('is refused before the upstream is called, with', () => {
    const of = (model: string) => ({ body: { ...route.request, model } })
    const kind = inputOnly ? '-embed' : ''
    const rows: readonly (readonly [string, Asking, number, string])[] = [
      ['a body that is not JSON', { body: '{"model":' }, 400, 'invalid_json'],
      ['no model', { body: route.request }, 400, 'invalid_field'],
      [
        'two models',
        { body: `{"model":"a","Model":"b",${JSON.stringify(route.request).slice(1)}` },
        400,
        'ambiguous_field',
      ],
      ['an unknown key', { key: 'tg_live_nobody' }, 401, 'invalid_api_key'],
      [
        'a balance below the worst case',
        { ...of(`expensive${kind}`), grant: '1' },
        402,
        'insufficient_balance',
      ],
      ['an unknown model', of('no-such-model'), 404, 'model_not_found'],
      ['a model that is off', of(`off${kind}`), 404, 'model_not_found'],
      ['a model of another kind', of(inputOnly ? 'gpt-x' : 'embed-x'), 404, 'model_not_found'],
      ['a model whose upstreams do not serve the route', of(`elsewhere${kind}`), 400, 'route_not_supported'],
      ['a body over the limit', { body: ' '.repeat(65 << 20) }, 413, 'request_too_large'],
    ]

    test.each(rows)(
      'a request is refused before the upstream is called, with %s',
      async (_title, asking, status, code) => {
        const before = gateway.upstream.requests.length

        const response = await ask(route, asking)

        await expectRefusal(response, { status, code })
        expect(gateway.upstream.requests).toHaveLength(before)
      },
    )
  })

  test(`an identical request is ${route.isReplayed ? 'a replay of the first one' : 'sent and charged again'}`, async () => {
    gateway.upstream.reply(route.answer({ input: 10, output: 5 }))
    const before = gateway.upstream.requests.length
    const first = await ask(route)
    const body = await first.text()

    const second = await send(route.path, { model: route.model, ...route.request }, { key: ada.key })

    expect(await second.text()).toBe(body)
    expect(second.headers.get('x-service-replay')).toBe(route.isReplayed ? 'true' : null)
    expect(second.headers.has('x-service-cost-usd')).toBe(!route.isReplayed)
    expect(gateway.upstream.requests).toHaveLength(before + (route.isReplayed ? 1 : 2))
    const { data } = await gateway.read<{ data: unknown[] }>(ada.key, '/v1/usage')
    expect(data).toHaveLength(route.isReplayed ? 1 : 2)
  })

  test(`a client that disconnects before its answer is ${route.isReplayed ? 'charged, and gets the answer with its retry' : 'charged nothing, and the upstream call is ended'}`, async () => {
    const controller = new AbortController()
    const held = gateway.upstream.hold()
    const asked = ask(route, { signal: controller.signal }).catch(() => 'left')
    const exchange = await held

    controller.abort()
    expect(await asked).toBe('left')

    if (route.isReplayed) {
      await route.answer({ input: 10, output: 5 })(exchange)
      const again = await send(route.path, { model: route.model, ...route.request }, { key: ada.key })
      expect(again.headers.get('x-service-replay')).toBe('true')
      expect(await settlementOf(gateway, ada)).toMatchObject({ source: 'reported' })
    } else {
      await exchange.closed
      expect(await settlementOf(gateway, ada)).toBeNull()
    }
  })

  async function expectRefusal(response: Response, expected: { status: number; code: string | undefined }) {
    const { headers } = response
    const body = (await response.clone().json()) as {
      type?: string
      error: { code: string; details?: object }
    }
    expect(await refusalOf(response)).toMatchObject(expected)
    expect(await settlementOf(gateway, ada)).toBeNull()
    if (route.isMessages) {
      expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
      expect(body).toMatchObject({ type: 'error', error: { details: { error_code: expected.code } } })
    } else {
      expect(headers.get('request-id')).toBeNull()
      expect(body.type).toBeUndefined()
    }
  }
})

function charge(cost: string): Settlement {
  return { cost_usd: cost, source: 'reported', is_clamped: false }
}

function clamped(cost: string): Settlement {
  return { cost_usd: cost, source: 'reported', is_clamped: true }
}

function refused(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  const error = { message: 'It does not fit.', type: 'their_error', code: 'context_length_exceeded' }
  return json({ error }, { status, headers })
}
