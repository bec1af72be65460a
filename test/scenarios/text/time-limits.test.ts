import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'
import { delta } from '../../support/stream-frames.ts'
import { turns } from '../../support/turn.ts'

const PROVIDER_READ_MS = 600_000
const PROVIDER_IDLE_MS = 120_000
const ROW_READ_MS = 1_200_000
const ROW_IDLE_MS = 300_000
const SETTING_READ_MS = 300_000

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    provider: {
      read_timeout_s: PROVIDER_READ_MS / 1000,
      stream_idle_timeout_s: PROVIDER_IDLE_MS / 1000,
    },
    providers: baseUrl => [{ id: 'plain', kind: 'openai-compatible', base_url: baseUrl, retries: 0 }],
    models: [
      chatModel('provider-limits'),
      chatModel('row-limits', {
        read_timeout_s: ROW_READ_MS / 1000,
        stream_idle_timeout_s: ROW_IDLE_MS / 1000,
      }),
      chatModel('settings', { upstreams: [{ provider: 'plain', model: 'm' }] }),
      {
        id: 'embedding-limits',
        kind: 'embedding',
        upstreams: [{ provider: 'plain', model: 'm' }],
        pricing: { input_per_mtok: '2' },
        read_timeout_s: 30,
      },
    ],
  })
})
afterAll(() => gateway.stop())

/** Sends a request whose upstream is written by the test. */
async function ask(model: string, { path = 'chat/completions', stream = false } = {}) {
  const account = await gateway.account()
  const held = gateway.upstream.hold()
  let isOver = false
  const body = { model, stream, messages: [{ role: 'user', content: 'Hi' }], input: 'Hi' }
  const pending = fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const began = Promise.withResolvers<void>()
  const reply = pending.then(async response => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const part of response.body ?? []) {
      text += decoder.decode(part, { stream: true })
      began.resolve()
    }
    isOver = true
    return { status: response.status, text }
  })
  return { account, exchange: await held, began: began.promise, reply, isOver: () => isOver }
}

describe('the read limit of', () => {
  test.each([
    ['a model replaces that of its provider', 'row-limits', 'chat/completions', ROW_READ_MS],
    ['a provider replaces the setting', 'provider-limits', 'chat/completions', PROVIDER_READ_MS],
    ['an embedding model replaces the setting', 'embedding-limits', 'embeddings', 30_000],
    ['the gateway holds for a provider without one', 'settings', 'chat/completions', SETTING_READ_MS],
  ])('the read limit of %s', async (_, model, path, limitMs) => {
    const { exchange, reply, isOver } = await ask(model, { path })

    gateway.clock.advance(limitMs - 1)
    await turns(20)
    const isEarly = isOver()
    gateway.clock.advance(1)

    expect({ isEarly, status: (await reply).status }).toEqual({ isEarly: false, status: 504 })
    exchange.reset()
  })

  test('the read limit of a model is also the limit for the head of a stream', async () => {
    const { reply, isOver } = await ask('row-limits', { stream: true })

    gateway.clock.advance(ROW_READ_MS - 1)
    await turns(20)
    const isEarly = isOver()
    gateway.clock.advance(1)

    expect({ isEarly, status: (await reply).status }).toEqual({ isEarly: false, status: 504 })
  })
})

describe('the idle limit of', () => {
  test.each([
    ['a model replaces that of its provider', 'row-limits', ROW_IDLE_MS],
    ['a provider replaces the setting', 'provider-limits', PROVIDER_IDLE_MS],
    ['the gateway holds for a provider without one', 'settings', 60_000],
  ])('the idle limit of %s', async (_, model, limitMs) => {
    const { account, exchange, began, reply, isOver } = await ask(model, { stream: true })
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.write(chunk(delta({ content: 'Hel' })))
    // The limit runs from the output that was passed on.
    await began

    gateway.clock.advance(limitMs - 1)
    await turns(20)
    const isEarly = isOver()
    gateway.clock.advance(1)

    expect(isEarly).toBe(false)
    expect((await reply).text).toContain('upstream_timeout')
    expect(await settlementOf(gateway, account)).not.toBeNull()
  })
})

test('doctor names the models whose streams end by the idle limit', async () => {
  const { checks } = await gateway.admin<{ checks: { name: string; ok: boolean; detail: string }[] }>(
    'GET',
    'doctor',
  )

  const check = checks.find(({ name }) => name === 'silent streams')

  expect(check).toMatchObject({ ok: false })
  expect(check?.detail).toContain('row-limits (1), provider-limits (1), settings (1)')
  expect(check?.detail).toContain('stream_idle_timeout_s')
})
