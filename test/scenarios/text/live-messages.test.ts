import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PING_AFTER_MS } from '../../../src/protocol/messages/event-frames.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { foldEvents } from '../../support/messages-events.ts'
import { json, sse } from '../../support/upstream-replies.ts'
import { eventsOf, openedStream, startNativeGateway, type NativeGateway } from '../gateways/native-gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { delta, DONE, FINISH, HEL, LO, ROLE, usage } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: NativeGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startNativeGateway()
  ada = await gateway.account()
})
afterAll(async () => {
  const { problems } = await gateway.admin<{ problems: unknown[] }>('POST', 'verify')
  expect(problems).toEqual([])
  await gateway.stop()
})

/** A read while time passes: enough for a heartbeat, and not for the idle limit, however slow this machine is. */
async function readInTime(read: () => Promise<string>, msMax = 20_000): Promise<string> {
  const startMs = gateway.clock.monotonicMs()
  const reading = read()
  let isOver = false
  const end = () => (isOver = true)
  reading.then(end, end)
  await until('something arrives', () => {
    if (!isOver && gateway.clock.monotonicMs() - startMs < msMax) gateway.clock.advance(500)
    return isOver
  })
  return reading
}

test('an answer that takes 310 seconds arrives, with a ping after every 10 seconds of silence', async () => {
  const startMs = gateway.clock.monotonicMs()
  const stream = await openedStream(gateway, ada, { model: 'live', first: ROLE })
  let received = stream.first
  let pings = 0

  while (gateway.clock.monotonicMs() - startMs < 310_000) {
    const piece = await readInTime(stream.read)
    received += piece
    if (!piece.includes('event: ping')) continue
    pings += 1
    await stream.write(delta({ content: `word ${pings} ` }))
    received += await stream.read()
  }
  await stream.write([FINISH, usage(), DONE].join(''))
  while (!received.includes('message_stop')) received += await stream.read()
  const message = foldEvents(received)

  expect(pings).toBeGreaterThan(10)
  expect(message).toMatchObject({
    isComplete: true,
    content: [{ type: 'text', text: expect.stringMatching(new RegExp(`^word 1 .* word ${pings} $`)) }],
    usage: { output_tokens: 5, cost_usd: '0.00007' },
  })
})

test('silence before the first event gets pings too, and an error after them is an event', async () => {
  // Background work may wait for as long as this.
  const others = gateway.clock.waitingFor(PING_AFTER_MS)
  const held = gateway.upstream.hold()
  const asked = gateway.ask(ada, { model: 'live', stream: true })
  const exchange = await held
  await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n')

  await until('the gateway waits for an event', () => gateway.clock.waitingFor(PING_AFTER_MS) > others)
  gateway.clock.advance(PING_AFTER_MS)
  const response = await asked
  exchange.end()
  const text = await response.text()

  expect(text).toStartWith('event: ping\ndata: {"type":"ping"}\n\n')
  expect(eventsOf(text).at(-1)).toMatchObject({ type: 'error', error: { type: 'upstream_error' } })
})

test('silence for the idle limit ends the stream, however many pings it had', async () => {
  const eve = await gateway.account()
  const stream = await openedStream(gateway, eve, { model: 'live', first: ROLE + HEL })
  let text = stream.first

  while (!text.includes('event: error')) text += await readInTime(stream.read, 100_000)

  expect(eventsOf(text).at(-1)).toMatchObject({ error: { type: 'timeout_error' } })
  expect(text.match(/event: ping/g)?.length).toBeGreaterThanOrEqual(2)
  expect(await gateway.charges(eve)).toMatchObject([{ source: 'estimated' }])
})

describe('a live stream', () => {
  test('a live stream asks the upstream for a stream with its usage, and has no cost header', async () => {
    gateway.upstream.reply(sse([ROLE, HEL, LO, FINISH, usage(), DONE]))

    const response = await gateway.ask(ada, { model: 'live', stream: true })
    const message = foldEvents(await response.text())

    expect(gateway.upstream.requests.at(-1)!.json()).toEqual({
      model: 'gpt-x',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(response.headers.get('x-service-cost-usd')).toBeNull()
    expect(message).toMatchObject({ model: 'live', usage: { cost_usd: '0.00007' }, isComplete: true })
  })

  test('a live stream that its client leaves is charged what was produced until then', async () => {
    const eve = await gateway.account()
    const leaving = new AbortController()
    const { exchange } = await openedStream(gateway, eve, {
      model: 'live',
      first: ROLE + HEL,
      signal: leaving.signal,
    })

    leaving.abort()
    await exchange.closed
    await until('the stream is charged', async () => (await gateway.charges(eve)).length === 1)

    expect(await gateway.charges(eve)).toMatchObject([{ source: 'estimated', route: 'messages' }])
  })

  test('a live stream without a usage frame ends with the estimated counts and their cost', async () => {
    gateway.upstream.reply(sse([ROLE, HEL, LO, FINISH, DONE]))

    const message = foldEvents(await (await gateway.ask(ada, { model: 'live', stream: true })).text())

    expect(message.usage).toMatchObject({ output_tokens: 1, cost_usd: expect.stringMatching(/^0\.\d+$/) })
  })

  test('a live stream that fails before its first event is an error status', async () => {
    gateway.upstream.reply(json({ error: { message: 'Busy.' } }, { status: 504 }))

    expect(await refusalOf(await gateway.ask(ada, { model: 'live', stream: true }))).toMatchObject({
      status: 502,
      code: 'upstream_error',
    })
  })

  test('a live stream is not kept for a repeat', async () => {
    const before = gateway.upstream.requests.length
    gateway.upstream.reply(sse([ROLE, HEL, LO, FINISH, usage(), DONE]))

    await (await gateway.ask(ada, { model: 'live', stream: true })).text()
    await (await gateway.ask(ada, { model: 'live', stream: true })).text()

    expect(gateway.upstream.requests.length).toBe(before + 2)
  })
})

describe('a request of a row with live streams', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  const structured = { output_config: { effort: 'high', format: { type: 'json_schema', schema } } }
  const RESPONSE_FORMAT = {
    type: 'json_schema',
    json_schema: { name: 'output', schema, strict: true },
  }
  const answer = () => json({ choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] })

  test.each([
    ['a stream', { stream: true }, () => sse([ROLE, HEL, LO, FINISH, usage(), DONE])],
    ['JSON', {}, answer],
  ])('a request carries the format of the output as response_format, for %s', async (_, more, reply) => {
    gateway.upstream.reply(reply())

    const { status } = await gateway.ask(ada, { model: 'live', ...structured, ...more })

    const sent = gateway.upstream.requests.at(-1)!.json() as object
    expect(status).toBe(200)
    expect(sent).toMatchObject({ response_format: RESPONSE_FORMAT })
    expect(sent).not.toHaveProperty('output_config')
  })

  test('a request loses its format in the default conversion, as the contract says', async () => {
    gateway.upstream.reply(answer())

    await gateway.ask(ada, { model: 'converted', ...structured })

    expect(gateway.upstream.requests.at(-1)!.json()).not.toHaveProperty('response_format')
  })

  test.each([
    [{ format: { type: 'grammar' } }, 'output_config.format.type'],
    [{ format: { type: 'json_schema' } }, 'output_config.format.schema'],
    [{ format: 'json' }, 'output_config.format'],
    ['high', 'output_config'],
  ])('a request with the output_config %j is 400 with the field', async (output_config, param) => {
    expect(await refusalOf(await gateway.ask(ada, { model: 'live', output_config }))).toMatchObject({
      status: 400,
      code: 'invalid_field',
      param,
    })
  })

  test.each<[string, object, string]>([
    ['a web search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'web_search'],
    [
      'code execution',
      { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      'code_execution',
    ],
    [
      'a server of tools',
      { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'a' }] },
      'mcp_servers',
    ],
  ])('a request with %s, which only its provider could run, is a clear 400', async (_, body, name) => {
    const before = gateway.upstream.requests.length

    for (const stream of [true, false])
      expect(await refusalOf(await gateway.ask(ada, { model: 'live', stream, ...body }))).toMatchObject({
        status: 400,
        code: 'invalid_field',
        param: 'tools',
        message: `The tool "${name}" runs at the provider, and no upstream of this model that can be called now has it. Leave it out, or use another model.`,
      })
    expect(gateway.upstream.requests).toHaveLength(before)
  })

  test('a request may have tools that its client runs', async () => {
    gateway.upstream.reply(answer())
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { name: 'read', input_schema: { type: 'object' }, defer_loading: true },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    ]

    expect((await gateway.ask(ada, { model: 'live', tools })).status).toBe(200)
  })
})

test('a JSON answer of a row with live streams is as on any other row', async () => {
  gateway.upstream.reply(
    json({
      id: 'chatcmpl-1',
      choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    }),
  )

  const response = await gateway.ask(ada, { model: 'live' })

  expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
  expect(gateway.upstream.requests.at(-1)!.json()).not.toMatchObject({ stream: true })
})
