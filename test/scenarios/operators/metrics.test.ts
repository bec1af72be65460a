import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatAnswer, json, resetBeforeHeaders, sse } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  ADMIN_KEY,
  chatModel,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { DONE, HEL, LO } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('resold', {
        pricing: 'upstream_cost',
        ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
      }),
      chatModel('keyless', { upstreams: [{ provider: 'unset', model: 'x' }] }),
    ],
    providers: base_url => [
      { id: 'unset', kind: 'openai-compatible', base_url, api_key: 'env:NO_SUCH_PROVIDER_KEY' },
    ],
  })
})
afterAll(() => gateway.stop())

const HELLO = { messages: [{ role: 'user', content: 'Hello' }] }

/** The growth of each series while `act` runs. */
async function growth(series: readonly string[], act: () => Promise<unknown>): Promise<readonly number[]> {
  const read = () => Promise.all(series.map(name => gateway.metric(name)))
  const before = await read()
  await act()
  const after = await read()
  return after.map((value, index) => Math.round((value - before[index]!) * 1e9) / 1e9)
}

describe('the metrics count', () => {
  test('the metrics count requests by route, status and model, with their duration, tokens and cost', async () => {
    const { key } = await gateway.account()
    gateway.upstream.reply(
      chatAnswer({
        usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
      }),
    )

    const grown = await growth(
      [
        'tollgate_requests_total{route="chat",status="200",model="gpt-x"}',
        'tollgate_request_duration_seconds_count{route="chat"}',
        'tollgate_tokens_total{model="gpt-x",bucket="input"}',
        'tollgate_tokens_total{model="gpt-x",bucket="cached_input"}',
        'tollgate_tokens_total{model="gpt-x",bucket="output"}',
        'tollgate_cost_usd_total{model="gpt-x",kind="text"}',
      ],
      () => gateway.chat(key, { model: 'gpt-x', ...HELLO }),
    )

    expect(grown).toEqual([1, 1, 6, 4, 5, 0.00007])
  })

  test('the metrics count refusals and failures by status', async () => {
    const { key } = await gateway.account()
    gateway.upstream.reply(resetBeforeHeaders())

    const grown = await growth(
      [
        'tollgate_requests_total{route="chat",status="502",model="gpt-x"}',
        'tollgate_requests_total{route="chat",status="404",model=""}',
        'tollgate_requests_total{route="none",status="404",model=""}',
      ],
      async () => {
        await gateway.chat(key, { model: 'gpt-x', ...HELLO })
        await gateway.chat(key, { model: 'gpt-y', ...HELLO })
        await fetch(`${gateway.url}/nothing`)
      },
    )

    expect(grown).toEqual([1, 1, 1])
  })

  test('the metrics count streams that broke with status 200, and no complete streams', async () => {
    const { key } = await gateway.account()
    const request = { model: 'gpt-x', stream: true, ...HELLO }
    gateway.upstream.reply(sse([HEL + LO + DONE]))
    const series = ['tollgate_broken_streams_total{route="chat",model="gpt-x"}']

    const whole = await growth(series, async () => (await gateway.chat(key, request)).text())
    gateway.upstream.reply(sse([HEL]))
    const broken = await growth(series, async () => (await gateway.chat(key, request)).text())

    expect([whole, broken]).toEqual([[0], [1]])
  })

  test('the metrics count failures of upstreams by provider and reason', async () => {
    const { key } = await gateway.account()
    const ask = async (reply: Reply, isStream = false) => {
      gateway.upstream.reply(reply)
      const response = await gateway.chat(key, { model: 'gpt-x', stream: isStream, ...HELLO })
      await response.text()
    }
    const reasons = ['unreachable', 'unpaid', 'rate_limited', 'no_answer', 'broken_stream', 'server']

    const grown = await growth(
      reasons.map(reason => `tollgate_upstream_failures_total{provider="main",reason="${reason}"}`),
      async () => {
        await ask(resetBeforeHeaders())
        await ask(json({ error: { message: 'No such key.' } }, { status: 401 }))
        await ask(json({}, { status: 429 }))
        await ask(json({ nothing: true }))
        await ask(sse([HEL]), true)
        await ask(json({ error: { message: 'No.' } }, { status: 400 }))
        await ask(chatAnswer())
      },
    )

    expect(grown).toEqual([1, 1, 1, 1, 1, 0])
  })

  test('the metrics count a provider whose key is not set, with a reason of its own that no client sees', async () => {
    const { key } = await gateway.account()
    let text = ''

    const grown = await growth(
      ['not_configured', 'unreachable'].map(
        reason => `tollgate_upstream_failures_total{provider="unset",reason="${reason}"}`,
      ),
      async () => {
        text = await (await gateway.chat(key, { model: 'keyless', ...HELLO })).text()
      },
    )

    expect(grown).toEqual([1, 0])
    expect(JSON.parse(text)).toMatchObject({
      error: {
        code: 'upstream_error',
        message:
          'The model is not available at its provider now. Contact support and include this request id.',
      },
    })
    expect(text).not.toContain('NO_SUCH_PROVIDER_KEY')
  })

  test('the metrics count charges above their hold, and the amount', async () => {
    const { key } = await gateway.account()
    gateway.upstream.reply(chatAnswer({ usage: { prompt_tokens: 50_000, completion_tokens: 0 } }))

    const [count, amount] = await growth(['tollgate_overdrafts_total', 'tollgate_overdraft_usd_total'], () =>
      gateway.chat(key, { model: 'gpt-x', max_tokens: 1, ...HELLO }),
    )

    expect(count).toBe(1)
    expect(amount).toBeWithin(0.0999, 0.1)
  })

  test('the metrics count answers whose upstream did not report its cost', async () => {
    const { key } = await gateway.account()
    gateway.upstream.reply(chatAnswer())

    const grown = await growth(['tollgate_unreported_costs_total{model="resold"}'], () =>
      gateway.chat(key, { model: 'resold', ...HELLO }),
    )

    expect(grown).toEqual([1])
  })

  test.each<[string, readonly number[], Readonly<Record<string, unknown>> | null]>([
    ['reported, not at all', [0, 0], { prompt_tokens: 10, completion_tokens: 5 }],
    ['absent, as estimated', [1, 0], null],
    ['impossible in part, as clamped', [0, 1], { prompt_tokens: -1, completion_tokens: 5 }],
  ])('the metrics count charges whose usage was %s', async (_, expected, usage) => {
    const { key } = await gateway.account()
    gateway.upstream.reply(chatAnswer({ usage }))

    const grown = await growth(
      ['tollgate_estimated_charges_total{model="gpt-x"}', 'tollgate_clamped_charges_total{model="gpt-x"}'],
      () => gateway.chat(key, { model: 'gpt-x', ...HELLO }),
    )

    expect(grown).toEqual([...expected])
  })

  test('the metrics count the metrics have no labels that a client can choose', async () => {
    const { key } = await gateway.account()
    await gateway.chat(key, { model: 'made-up-model', ...HELLO })
    await fetch(`${gateway.url}/made-up-path?made-up-query`)

    const response = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    })

    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(await response.text()).not.toContain('made-up')
  })
})

test('the metrics show the held amount', async () => {
  const { key } = await gateway.account()
  const taken = gateway.upstream.hold()
  const running = gateway.chat(key, { model: 'gpt-x', ...HELLO })
  const exchange = await taken

  const during = await gateway.metric('tollgate_held_usd{kind="text"}')
  await chatAnswer()(exchange)
  await running

  expect(during).toBeWithin(0.01, 0.0101)
  expect(await gateway.metric('tollgate_held_usd{kind="text"}')).toBe(0)
})

test('the ledger is checked at the start and every hour, and the metrics have the time and the result', async () => {
  const checks = () => gateway.metric('tollgate_ledger_checks_total{result="sound"}')
  await until('the books were checked', async () => (await checks()) > 0)
  const before = await checks()

  gateway.clock.advance(3_600_000)
  await until('the books were checked again', async () => (await checks()) > before)

  expect(await gateway.metric('tollgate_ledger_problems')).toBe(0)
  expect(await gateway.metric('tollgate_ledger_checked_timestamp_seconds')).toBe(gateway.clock.now() / 1000)
})

describe('the metrics can be read', () => {
  const read = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers })

  test('the metrics can be read: only with the admin key', async () => {
    const { key } = await gateway.account()

    for (const headers of [{}, { authorization: `Bearer ${key}` }, { 'x-api-key': ADMIN_KEY }])
      expect(await refusalOf(await read(gateway.url, headers))).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      })
  })

  test('the metrics can be read with a key of their own, which opens nothing else', async () => {
    const gateway = await startScriptedGateway({ environment: { TOLLGATE_METRICS_KEY: 'for-prometheus' } })
    const headers = { authorization: 'Bearer for-prometheus' }
    const paths = ['/metrics', '/admin/api/accounts', '/admin/openapi.json', '/v1/balance']

    const replies = await Promise.all(paths.map(path => fetch(gateway.url + path, { headers })))
    const asAdmin = await read(gateway.url, { authorization: `Bearer ${ADMIN_KEY}` })
    const wrong = await read(gateway.url, { authorization: 'Bearer for-promethous' })
    await gateway.stop()

    expect(replies.map(({ status }) => status)).toEqual([200, 401, 401, 401])
    expect([asAdmin.status, wrong.status]).toEqual([200, 401])
  })

  test('the metrics can be read by everyone if the operator allows it', async () => {
    const open = await startScriptedGateway({ environment: { TOLLGATE_METRICS_PUBLIC: 'on' } })

    const { status } = await read(open.url)
    await open.stop()

    expect(status).toBe(200)
  })
})

test.each([
  ['/health/live', { status: 'live' }],
  ['/health/ready', { status: 'ready' }],
])('%s answers without a key', async (path, body) => {
  const response = await fetch(gateway.url + path)

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual(body)
})

test.if(process.platform === 'linux')('the metrics have the file descriptors of the process', async () => {
  const [open, max] = await Promise.all([
    gateway.metric('process_open_fds'),
    gateway.metric('process_max_fds'),
  ])

  expect(open).toBeGreaterThan(3)
  expect(max).toBeGreaterThan(open)
})
