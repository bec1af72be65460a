import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatAnswer, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
  type UsageRow,
} from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE, usage } from '../../support/stream-frames.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  const change = {
    pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
    max_output_tokens: 8192,
  }
  gateway = await startScriptedGateway({
    provider: { usage_style: 'gemini' },
    providers: baseUrl => [{ id: 'plain', kind: 'openai-compatible', base_url: baseUrl }],
    models: [
      chatModel('gemini', change),
      chatModel('gemini-live', { ...change, messages_stream: 'live' }),
      chatModel('other', { ...change, upstreams: [{ provider: 'plain', model: 'x' }] }),
    ],
  })
})
afterAll(() => gateway.stop())

/** Gemini thought for 1,321 tokens, which are only in the total. */
const counts = { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1_994 }
const messages = [{ role: 'user', content: 'Hello' }]
const SEARCH = { google: { tools: [{ google_search: {} }] } }
/** Gemini reports a usage in each chunk. */
const stream = sse([
  ROLE,
  HEL,
  usage({ ...counts, completion_tokens: 1, total_tokens: 10 }),
  FINISH,
  usage(counts),
  DONE,
])

/** Sends a request and reads its whole answer, then returns the charge. */
async function charged(route: string, body: object, reply: Parameters<typeof gateway.upstream.reply>[0]) {
  const account = await gateway.account({ grant: '10' })
  gateway.upstream.reply(reply)
  const response = await fetch(`${gateway.url}/v1/${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ messages, ...body }),
  })
  const text = await response.text()
  await expectNothingHeld(gateway, account)
  const { data } = await gateway.read<{ data: UsageRow[] }>(account.key, '/v1/usage')
  return { text, charge: data[0] }
}

describe('thinking that Gemini counts only in the total is charged as output', () => {
  test.each([
    ['a JSON answer', 'chat/completions', { model: 'gemini' }, chatAnswer({ usage: counts })],
    [
      'a stream with include_usage',
      'chat/completions',
      { model: 'gemini', stream: true, stream_options: { include_usage: true } },
      stream,
    ],
    ['a stream without include_usage', 'chat/completions', { model: 'gemini', stream: true }, stream],
    ['a converted message', 'messages', { model: 'gemini', max_tokens: 8000 }, chatAnswer({ usage: counts })],
    [
      'a live stream of messages',
      'messages',
      { model: 'gemini-live', max_tokens: 8000, stream: true },
      stream,
    ],
  ])(
    'thinking that Gemini counts only in the total is charged as output of %s',
    async (_, route, body, reply) => {
      const { text, charge } = await charged(route, body, reply)

      expect(charge).toMatchObject({
        cost_usd: '0.0198725',
        usage: { input_tokens: 9, output_tokens: 1_985, reasoning_tokens: 1_321 },
        source: 'reported',
        is_clamped: false,
      })
      if (route === 'messages') expect(text).toContain('"output_tokens":1985')
    },
  )

  test.each([
    ['up to the output ceiling of the request', { model: 'gemini', max_tokens: 1_000 }, '0.0100225', true],
    [
      'but not if the request uses tools of Google, whose prompts are in the total',
      { model: 'gemini', extra_body: SEARCH },
      '0.0066625',
      false,
    ],
    ['but not without usage_style in the row of the provider', { model: 'other' }, '0.0066625', false],
  ])(
    'thinking that Gemini counts only in the total is charged as output: %s',
    async (_, body, cost, isClamped) => {
      const { charge } = await charged('chat/completions', body, chatAnswer({ usage: counts }))

      expect(charge).toMatchObject({ cost_usd: cost, is_clamped: isClamped })
    },
  )
})
