import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answer, json } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'
import { chatCompletion } from './text-routes.ts'

const HI = [{ role: 'user', content: 'Hi' }]
/** The cost of 10 input tokens at 2 USD and 5 output tokens at 10 USD per million. */
const COUNTS = { input: 10, output: 5 }

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('gpt-new', { upstreams: [{ provider: 'newer', model: 'x' }] }),
      chatModel('gpt-plain', { upstreams: [{ provider: 'plain', model: 'x' }] }),
      chatModel('gpt-two', {
        upstreams: [
          { provider: 'main', model: 'first', order: 1 },
          { provider: 'newer', model: 'second', order: 2 },
        ],
      }),
    ],
    providers: baseUrl => [
      { id: 'plain', kind: 'openai-compatible', base_url: baseUrl, omit_fields: ['metadata', 'top_p'] },
      {
        id: 'newer',
        kind: 'openai-compatible',
        base_url: baseUrl,
        max_tokens_field: 'max_completion_tokens',
      },
    ],
  })
  ada = await gateway.account()
})
afterAll(async () => {
  await expectNothingHeld(gateway, ada)
  await gateway.stop()
})

function ask(body: object, path = '/v1/messages', { key } = ada): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: HI, ...body }),
  })
}

/** The last request that the upstream got. */
function sent(): unknown {
  return gateway.upstream.requests.at(-1)?.json()
}

type Message = {
  readonly id: string
  readonly content: readonly object[]
  readonly usage: Readonly<Record<string, unknown>>
}

async function messageOf(response: Response): Promise<Message> {
  expect(response.status).toBe(200)
  return (await response.json()) as Message
}

/** A chat completion with these members in its only choice. */
function choice(members: object, usage: object = { prompt_tokens: 10, completion_tokens: 5 }): Reply {
  return json({ id: 'chatcmpl-1', choices: [{ index: 0, finish_reason: 'stop', ...members }], usage })
}

describe('the upstream gets a chat request', () => {
  test('the upstream gets a chat request with its own model name and only the fields that are converted', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', COUNTS))

    await ask({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      context_management: {},
      top_k: 5,
    })

    const request = gateway.upstream.requests.at(-1)!
    expect(request.path).toBe('/v1/chat/completions')
    expect(request.json()).toEqual({
      model: 'gpt-x-upstream',
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      stop: ['END'],
      temperature: 0.5,
      top_p: 0.9,
      metadata: { user_id: 'u' },
    })
  })

  test('the upstream gets a chat request with the output ceiling in the provider’s field, or without one', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', COUNTS))

    await ask({ model: 'gpt-new', max_tokens: 50 })
    const limited = sent()
    await ask({})

    expect(limited).toMatchObject({ max_completion_tokens: 50 })
    expect(sent()).toEqual({ model: 'gpt-x-upstream', messages: HI })
  })

  test('the upstream gets a chat request without the fields that the provider’s row omits', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', COUNTS))
    const request = { temperature: 1, top_p: 0.5, metadata: { user_id: 'u' }, stop_sequences: ['END'] }

    await ask({ model: 'gpt-plain', ...request })
    const omitted = sent()
    await gateway.chat(ada.key, { model: 'gpt-plain', messages: HI, metadata: { a: 'b' } })

    expect(omitted).toEqual({ model: 'x', messages: HI, stop: ['END'], temperature: 1 })
    // A request that the client wrote itself keeps its fields.
    expect(sent()).toEqual({ model: 'x', messages: HI, metadata: { a: 'b' } })
  })

  test('the upstream gets a chat request whose refusal of a field is reported by doctor', async () => {
    const doctor = async () => {
      const { checks } = await gateway.admin<{ checks: { name: string; detail: string }[] }>('GET', 'doctor')
      return checks.filter(({ name }) => name.startsWith('fields of')).map(({ detail }) => detail)
    }
    const refusal = json(
      {
        error: {
          message: "The 'metadata' parameter is only allowed when 'store' is enabled.",
          type: 'invalid_request_error',
        },
      },
      { status: 400 },
    )
    gateway.upstream.reply(refusal)

    await gateway.chat(ada.key, { model: 'gpt-x', messages: HI, metadata: { a: 'b' } })
    const before = await doctor()
    await ask({ metadata: { user_id: 'u' } })

    expect(before).toEqual([])
    expect(await doctor()).toEqual([expect.stringContaining('write omit_fields: [metadata] in its row.')])
  })

  test('the upstream gets a chat request with any query string', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', COUNTS))

    const message = await messageOf(await ask({}, '/v1/messages?beta=true'))

    expect(message.content).toEqual([{ type: 'text', text: 'Hello.' }])
    expect(gateway.upstream.requests.at(-1)!.path).toBe('/v1/chat/completions')
  })

  test('the upstream gets a chat request with parallel calls and all their results in order, before the text of the turn', async () => {
    gateway.upstream.reply(chatCompletion('Done.', COUNTS))
    const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: { at: id } })
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: JSON.stringify({ at: id }) },
    })

    await ask({
      messages: [
        { role: 'user', content: 'Look twice.' },
        { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, use('a'), use('b')] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Well?', later_member: 1 },
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'north' }] },
            { type: 'tool_result', tool_use_id: 'b', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    })

    expect(sent()).toMatchObject({
      messages: [
        { role: 'user', content: 'Look twice.' },
        { role: 'assistant', content: 'I look.', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: 'north' },
        { role: 'tool', tool_call_id: 'b', content: '' },
        { role: 'user', content: 'Well?' },
      ],
    })
  })
})

describe('the reply is a message', () => {
  test('the reply is a message with the upstream’s id, the catalog’s model name and the cost', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', COUNTS))

    const response = await ask({})

    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    expect(await response.json()).toEqual({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-x',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 5, cost_usd: '0.00007' },
    })
  })

  test('the reply is a message with the request id if the upstream has no id, and with a JSON content type', async () => {
    const completion = { choices: [{ message: { content: 'Hi.' } }] }
    gateway.upstream.reply(answer(JSON.stringify(completion), { headers: { 'content-type': 'text/plain' } }))

    const response = await ask({})

    expect(response.headers.get('content-type')).toBe('application/json')
    expect((await messageOf(response)).id).toBe(response.headers.get('x-request-id')!)
  })

  test.each([
    ['', {}],
    ['{"at":1}', { at: 1 }],
    ['{"at":', { raw_arguments: '{"at":' }],
  ])('a tool call with the arguments %j has the input %j in the message', async (args, input) => {
    const toolCalls = [{ id: 'c', type: 'function', function: { name: 'look', arguments: args } }]
    gateway.upstream.reply(choice({ message: { tool_calls: toolCalls }, finish_reason: 'tool_calls' }))

    const message = await messageOf(await ask({}))

    expect(message).toMatchObject({
      content: [{ type: 'tool_use', id: 'c', name: 'look', input }],
      stop_reason: 'tool_use',
    })
  })

  test('a reply that a content filter cut is charged as reported', async () => {
    gateway.upstream.reply(choice({ message: { content: '' }, finish_reason: 'content_filter' }))

    expect(await messageOf(await ask({}))).toMatchObject({
      content: [],
      stop_reason: 'stop_sequence',
      usage: { cost_usd: '0.00007' },
    })
  })

  test('the reply is a message with cached tokens outside the input tokens, charged once', async () => {
    const counts = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
    }
    gateway.upstream.reply(choice({ message: { content: 'Hi.' } }, counts))

    const { usage } = await messageOf(await ask({}))

    expect(usage).toEqual({
      input_tokens: 6,
      cache_read_input_tokens: 4,
      output_tokens: 5,
      cost_usd: '0.00007',
    })
  })

  test('the reply is a message with estimated tokens and no cost, if the upstream reports no usage', async () => {
    gateway.upstream.reply(chatCompletion('Hello.', null))
    // A key without earlier requests, whose cached tokens would be assumed again.
    const account = await gateway.account()

    const { usage } = await messageOf(await ask({}, '/v1/messages', account))

    expect(usage).toEqual({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) })
    expect(usage['input_tokens']).toBeGreaterThan(0)
    expect(usage['output_tokens']).toBeGreaterThan(0)
  })
})

describe('a stream is built from the finished answer', () => {
  test('the cost is in the header and the first event, and message_delta has only the output tokens', async () => {
    const toolCalls = [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }]
    gateway.upstream.reply(
      choice({ message: { content: 'Look.', tool_calls: toolCalls }, finish_reason: 'tool_calls' }),
    )

    const response = await ask({ stream: true })

    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
    expect(eventsIn(await response.text())).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'chatcmpl-1',
          type: 'message',
          role: 'assistant',
          model: 'gpt-x',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 0, cost_usd: '0.00007' },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Look.' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'c', name: 'look', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"at":1}' },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 5 },
      },
      { type: 'message_stop' },
    ])
  })

  test('an error before the stream is JSON', async () => {
    const refused = await ask({ stream: true, model: 'no-such-model' })

    expect(await refusalOf(refused)).toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

/** The data of each event, after checking that its name is its type. */
function eventsIn(text: string): unknown[] {
  const events = text.split('\n\n').filter(event => event !== '')
  return events.map(event => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? []
    const value = JSON.parse(data!) as { type: string }
    expect(name).toBe(value.type)
    return value
  })
}

describe('an empty answer', () => {
  const empty = chatCompletion('', { input: 10, output: 1 })

  test.each([{}, { stream: true }])(
    'an empty answer is replaced by the answer of another upstream, with %j',
    async asking => {
      gateway.upstream.reply(empty, chatCompletion('Said by the second.', COUNTS))
      const before = gateway.upstream.requests.length

      const response = await ask({ model: 'gpt-two', max_tokens: 9, ...asking })

      expect(await response.text()).toContain('Said by the second.')
      expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
      expect(gateway.upstream.requests.slice(before).map(request => request.json())).toMatchObject([
        { model: 'first', max_tokens: 9 },
        { model: 'second', max_completion_tokens: 9 },
      ])
    },
  )

  test('an empty answer is returned and charged if there is no better answer', async () => {
    const account = await gateway.account()
    gateway.upstream.reply(empty)

    const message = await messageOf(await ask({ model: 'gpt-two' }, '/v1/messages', account))

    expect(message).toMatchObject({ content: [], stop_reason: 'end_turn' })
    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00003' })
  })
})

describe('a request is refused', () => {
  test('a request is refused with a thread, with the code that makes SDKs send the whole conversation', async () => {
    const refused = await ask({ thread: { id: 'thread_1' } })

    expect(await refused.clone().json()).toMatchObject({
      type: 'error',
      error: { details: { error_code: 'thread_unsupported_request' } },
    })
    expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'thread_unsupported_request' })
  })

  test.each<[object, string]>([
    [{ messages: 'Hi' }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages.0.content.0.type'],
    [{ messages: [{ role: 'robot', content: 'Hi' }] }, 'messages.0.role'],
    [{ max_tokens: '9' }, 'max_tokens'],
    [{ tool_choice: { type: 'some' } }, 'tool_choice.type'],
  ])('a request is refused: %j, with the field %s', async (body, param) => {
    const refused = await ask(body)

    expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'invalid_field', param })
  })

  test('a request is refused whose worst case exceeds the balance, with an output ceiling that fits', async () => {
    const poor = await gateway.account({ grant: '0.005' })

    const refused = await ask({}, '/v1/messages', poor)

    const { error, max_affordable_output_tokens: ceiling } = (await refused.json()) as {
      error: object
      max_affordable_output_tokens: number
    }
    expect(refused.status).toBe(402)
    expect(error).toMatchObject({ details: { error_code: 'insufficient_balance' } })
    expect(await messageOf(await ask({ max_tokens: ceiling }, '/v1/messages', poor))).toBeObject()
  })
})

describe('count_tokens', () => {
  const COUNT = '/v1/messages/count_tokens'

  test('count_tokens estimates for a model that is on, without an upstream call and without a charge', async () => {
    const account = await gateway.account({ grant: '0' })
    const before = gateway.upstream.requests.length

    const counted = await ask({ messages: [{ role: 'user', content: 'x'.repeat(400) }] }, COUNT, account)

    expect(counted.status).toBe(200)
    expect(await counted.json()).toEqual({ input_tokens: 104 })
    expect(counted.headers.get('request-id')).toStartWith('req_')
    expect(counted.headers.get('x-service-cost-usd')).toBeNull()
    expect(gateway.upstream.requests).toHaveLength(before)
    expect(await settlementOf(gateway, account)).toBeNull()
  })

  test('count_tokens accepts a model name with a prefix, and a query string', async () => {
    const counted = await ask({ model: 'acme/gpt-x' }, `${COUNT}?beta=true`)

    expect(await counted.json()).toEqual({ input_tokens: 5 })
  })

  test('count_tokens is 404 while the model is switched off', async () => {
    await gateway.admin('PATCH', 'models/gpt-new', { enabled: false })
    const off = await ask({ model: 'gpt-new' }, COUNT)
    await gateway.admin('PATCH', 'models/gpt-new', { enabled: true })
    const on = await ask({ model: 'gpt-new' }, COUNT)

    expect(await off.clone().json()).toMatchObject({
      type: 'error',
      error: { details: { error_code: 'model_not_found' } },
    })
    expect(await refusalOf(off)).toMatchObject({ status: 404 })
    expect(on.status).toBe(200)
  })

  test.each<[object, number, string]>([
    [{ model: 'no-such-model' }, 404, 'model_not_found'],
    [{ messages: 7 }, 400, 'invalid_field'],
    [{ model: 7 }, 400, 'invalid_field'],
    [{ thread: { id: 't' } }, 400, 'thread_unsupported_request'],
  ])('count_tokens refuses %j', async (body, status, code) => {
    const refused = await ask(body, COUNT)

    expect(await refused.clone().json()).toMatchObject({ type: 'error' })
    expect(await refusalOf(refused)).toMatchObject({ status, code })
  })

  test('count_tokens needs a key', async () => {
    const refused = await ask({}, COUNT, { ...ada, key: 'tg_live_nobody' })

    expect(await refused.clone().json()).toMatchObject({ type: 'error' })
    expect(await refusalOf(refused)).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
})
