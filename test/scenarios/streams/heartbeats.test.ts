import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk } from '../../support/upstream-replies.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { askForStream, openedStream, restOf, type Asking } from './settled-stream.ts'
import {
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

const AFTER_MS = 15_000
const IDLE_MS = 60_000
/** Two such waits are shorter than the idle limit. */
const PATIENCE_MS = 25_000
const RESPONSES = {
  path: '/v1/responses',
  request: { input: 'Hi' },
}
const CREATED =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","model":"up"}}\n\n'
const COMPLETED =
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","model":"up","output":[],' +
  '"usage":{"input_tokens":10,"output_tokens":5}}}\n\n'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ environment: { TOLLGATE_REPLAY_TTL_S: '60' } })
})
afterAll(() => gateway.stop())

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** The next piece, while time passes: enough for a heartbeat, and not for the idle limit. */
async function pieceAfterSilence(reader: Reader): Promise<string> {
  const reading = reader.read()
  let isOver = false
  void reading.then(() => (isOver = true))
  const startMs = gateway.clock.monotonicMs()
  await until('something arrives', () => {
    if (!isOver && gateway.clock.monotonicMs() - startMs < PATIENCE_MS) gateway.clock.advance(500)
    return isOver
  })
  return new TextDecoder().decode((await reading).value)
}

describe.each<[string, Asking, string, string]>([
  ['a chat stream with include_usage', { includeUsage: true }, ROLE, LO + FINISH + usage() + DONE],
  ['a responses stream', { route: RESPONSES }, CREATED, COMPLETED],
])('%s', (_, asking, start, end) => {
  test('a stream gets a comment after 15 seconds of silence between frames', async () => {
    const { exchange, reader } = await openedStream(gateway, start, asking)

    const first = await pieceAfterSilence(reader)
    const second = await pieceAfterSilence(reader)
    await exchange.write(chunk(end))
    await exchange.write('0\r\n\r\n')
    const rest = await restOf(reader)

    expect(first).toStartWith(HEARTBEAT)
    expect(second).toStartWith(HEARTBEAT)
    expect(withoutHeartbeats(first + second)).toBe('')
    expect(withoutHeartbeats(rest)).toContain(
      end === COMPLETED ? 'response.completed' : '"cost_usd":"0.00007"',
    )
  })

  test('the replay of a stream with comments has none', async () => {
    const { account, exchange, reader, first } = await openedStream(gateway, start, asking)
    const beat = await pieceAfterSilence(reader)
    await exchange.write(chunk(end))
    await exchange.write('0\r\n\r\n')
    const whole = first + withoutHeartbeats(beat + (await restOf(reader)))

    const replay = await askForStream(gateway, account, asking)

    expect(beat).toStartWith(HEARTBEAT)
    expect(replay.headers.get('x-service-replay')).toBe('true')
    expect(await replay.text()).toBe(whole)
  })
})

test('silence before the first frame is still a 504 at the idle limit', async () => {
  const account = await gateway.account()
  const held = gateway.upstream.hold()
  const asked = askForStream(gateway, account, { includeUsage: true })
  const exchange = await held
  await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n')

  let response: Response | undefined
  void asked.then(answered => (response = answered))
  await until('the reply comes', () => {
    gateway.clock.advance(IDLE_MS)
    return response !== undefined
  })

  expect(response!.status).toBe(504)
})

test('comments do not reset the idle limit', async () => {
  const { reader } = await openedStream(gateway, ROLE + HEL, { includeUsage: true })
  let rest: string | undefined
  void restOf(reader).then(text => (rest = text))

  await until('the stream ends', () => {
    gateway.clock.advance(1000)
    return rest !== undefined
  })

  expect(rest).toContain('upstream_timeout')
  expect(rest!.split(HEARTBEAT).length - 1).toBeGreaterThanOrEqual(2)
})

test('a stream that is relayed byte for byte gets no comment', async () => {
  const { exchange, reader, first } = await openedStream(gateway, ROLE)
  const rest = restOf(reader)
  gateway.clock.advance(3 * AFTER_MS)
  await exchange.write(chunk(HEL + LO + FINISH + DONE))
  await exchange.write('0\r\n\r\n')

  expect(first + (await rest)).toBe(ROLE + HEL + LO + FINISH + DONE)
})
