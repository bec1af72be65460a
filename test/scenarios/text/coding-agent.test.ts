import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, sse } from '../../support/upstream-replies.ts'
import { foldEvents } from '../../support/messages-events.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { askForStream, openedStream, restOf, settlementOf, type Asking } from '../streams/settled-stream.ts'
import {
  delta,
  DONE,
  FINISH,
  HEARTBEAT,
  HEL,
  LO,
  ROLE,
  usage,
  withoutHeartbeats,
} from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

const SILENCE_MS = 120_000
const CREATED =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","model":"up"}}\n\n'
const COMPLETED =
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","model":"up","output":[],' +
  '"usage":{"input_tokens":10,"output_tokens":5}}}\n\n'
const END = LO + FINISH + usage() + DONE
const MESSAGES = { path: '/v1/messages', request: { messages: [{ role: 'user', content: 'Hi' }] } }

let gateway: ScriptedGateway

beforeAll(async () => {
  const agent = { preset: 'coding-agent' }
  gateway = await startScriptedGateway({
    providers: baseUrl => [
      { id: 'asking', kind: 'openai-compatible', base_url: baseUrl, stream_usage: 'ask' },
      { id: 'old', kind: 'openai-compatible', base_url: baseUrl, omit_fields: ['stream_options'] },
    ],
    models: [
      chatModel('gpt-x', agent),
      chatModel('silent', { ...agent, heartbeats: false }),
      chatModel('hasty', { ...agent, stream_idle_timeout_s: 60 }),
      chatModel('by-client', { stream_usage: 'client', upstreams: [{ provider: 'asking', model: 'm' }] }),
      chatModel('on-old', { ...agent, upstreams: [{ provider: 'old', model: 'm' }] }),
    ],
  })
})
afterAll(() => gateway.stop())

/** Reads to the end while time passes in steps that are shorter than the time between two heartbeats. */
async function textWhile(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMs: number,
  finish: () => Promise<void>,
): Promise<string> {
  const startMs = gateway.clock.monotonicMs()
  const rest = restOf(reader)
  await until('the silence is over', () => {
    gateway.clock.advance(1000)
    return gateway.clock.monotonicMs() - startMs >= silenceMs
  })
  await finish()
  return rest
}

describe('with preset: coding-agent', () => {
  test.each<[string, Asking, string, string]>([
    ['a chat stream that does not ask for usage', {}, ROLE + HEL, END],
    ['a chat stream that asks for usage', { includeUsage: true }, ROLE + HEL, END],
    [
      'a responses stream',
      { route: { path: '/v1/responses', request: { input: 'Hi' } } },
      CREATED,
      COMPLETED,
    ],
  ])('%s survives two minutes of silence, with comment lines', async (_, asking, start, end) => {
    const { account, exchange, reader } = await openedStream(gateway, start, asking)

    const rest = await textWhile(reader, SILENCE_MS, async () => {
      await exchange.write(chunk(end))
      await exchange.write('0\r\n\r\n')
    })

    expect(rest.split(HEARTBEAT).length - 1).toBeGreaterThan(3)
    expect(withoutHeartbeats(rest)).toContain(end === COMPLETED ? 'response.completed' : '[DONE]')
    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00007', source: 'reported' })
    await expectNothingHeld(gateway, account)
  })

  test('a messages stream arrives while it is produced, and an answer of 330 seconds is whole', async () => {
    const { account, exchange, reader, first } = await openedStream(gateway, ROLE, { route: MESSAGES })
    let words = 0
    const startMs = gateway.clock.monotonicMs()

    const rest = await textWhile(reader, 330_000, async () => {
      await exchange.write(chunk(delta({ content: `${(words += 1)} words` }) + END))
      await exchange.write('0\r\n\r\n')
    })

    expect(gateway.clock.monotonicMs() - startMs).toBeGreaterThan(300_000)
    expect(rest).toContain('event: ping')
    expect(foldEvents(first + rest)).toMatchObject({
      isComplete: true,
      content: [{ type: 'text', text: '1 wordslo' }],
      usage: { output_tokens: 5, cost_usd: '0.00007' },
    })
    await expectNothingHeld(gateway, account)
  })

  test('a field of the row wins: a shorter silence ends the stream', async () => {
    const { reader } = await openedStream(gateway, ROLE + HEL, { body: { model: 'hasty' } })

    const rest = await textWhile(reader, SILENCE_MS, async () => {})

    expect(rest).toContain('upstream_timeout')
  })

  test('a field of the row wins: a stream without heartbeats is relayed byte for byte', async () => {
    const { exchange, reader } = await openedStream(gateway, ROLE, { body: { model: 'silent' } })

    const rest = await textWhile(reader, SILENCE_MS, async () => {
      await exchange.write(chunk(HEL + LO + FINISH + DONE))
      await exchange.write('0\r\n\r\n')
    })

    expect(rest).toBe(HEL + LO + FINISH + DONE)
  })
})

describe('the upstream is asked for the usage of a stream', () => {
  test.each([
    ['gpt-x', true, 'the model says ask'],
    ['by-client', false, 'the model says client, and its provider ask'],
    ['on-old', false, 'the model says ask, and its provider does not know stream_options'],
  ])('the upstream is asked for the usage of a stream of %s: %p, because %s', async (model, isAsked) => {
    const account = await gateway.account()
    gateway.upstream.reply(sse([ROLE + HEL + END]))

    await (await askForStream(gateway, account, { body: { model } })).text()

    const { body } = gateway.upstream.requests.at(-1)!
    expect(new TextDecoder().decode(body).includes('"include_usage":true')).toBe(isAsked)
  })
})
