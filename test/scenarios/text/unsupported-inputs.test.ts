import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'

const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
const pdf = {
  type: 'document',
  title: 'plan',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
}
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.png' } }
const toolResult = { type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }
const chatImage = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] })

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  const onNative = { upstreams: [{ provider: 'native', model: 'claude-x' }] }
  gateway = await startScriptedGateway({
    providers: baseUrl => [{ id: 'native', kind: 'anthropic', base_url: baseUrl, api_key: 'native-secret' }],
    models: [
      chatModel('text-only', { inputs: ['text'] }),
      chatModel('sees', { inputs: ['text', 'image'] }),
      chatModel('noting', { inputs: ['text'], unsupported_inputs: 'note' }),
      chatModel('noting-live', { inputs: ['text'], unsupported_inputs: 'note', messages_stream: 'live' }),
      chatModel('native', { ...onNative, inputs: ['text'], unsupported_inputs: 'note' }),
      chatModel('unknown'),
    ],
  })
  ada = await gateway.account({ grant: '1' })
})
afterEach(() => expectNothingHeld(gateway, ada))
afterAll(() => gateway.stop())

function post(path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key, 'content-type': 'application/json' },
    body: JSON.stringify({ max_tokens: 10, ...body }),
  })
}

/** The messages that the upstream got last. */
function sentMessages(): readonly object[] {
  const { body } = gateway.upstream.requests.at(-1)!
  return (JSON.parse(new TextDecoder().decode(body)) as { messages: object[] }).messages
}

describe('an input that the model does not read is 400 with its place, before a provider is called:', () => {
  test.each<[string, string, object, string, string]>([
    ['a chat image', 'chat/completions', said({ type: 'text', text: 'a' }, chatImage), 'image', '[1]'],
    ['chat audio', 'chat/completions', said({ type: 'input_audio', input_audio: {} }), 'audio', '[0]'],
    ['a chat file', 'chat/completions', said({ type: 'file', file: {} }), 'file', '[0]'],
    ['a messages image', 'messages', said(image), 'image', '[0]'],
    ['a messages document', 'messages', said(pdf), 'file', '[0]'],
    [
      'an image in a tool result',
      'messages',
      said({ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a' }, image] }),
      'image',
      '[0].content[1]',
    ],
  ])(
    'an input that the model does not read is 400 with its place, before a provider is called: %s',
    async (_, path, body, kind, place) => {
      const before = gateway.upstream.requests.length

      const response = await post(path, { model: 'text-only', ...body })

      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(await refusalOf(response)).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        code: 'unsupported_input',
        param: `messages[0].content${place}`,
        message: expect.stringContaining(`"text-only" does not read ${kind}`),
      })
      expect(gateway.upstream.requests).toHaveLength(before)
    },
  )

  test.each<[string, object, string]>([
    [
      'an image of a responses message',
      { role: 'user', content: [{ type: 'input_image' }] },
      'input[1].content[0]',
    ],
    ['a file', { role: 'user', content: [{ type: 'input_file' }] }, 'input[1].content[0]'],
    [
      'the output of a function',
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image' }] },
      'input[1].output[0]',
    ],
  ])(
    'an input that the model does not read is 400 with its place, before a provider is called: %s',
    async (_, item, param) => {
      const response = await post('responses', {
        model: 'text-only',
        input: [{ role: 'user', content: '' }, item],
      })

      expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unsupported_input', param })
    },
  )

  test.each([
    ['an empty account', {}],
    ['a stream', { stream: true }],
  ])(
    'an input that the model does not read is 400 with its place, before a provider is called: on %s too',
    async (_, more) => {
      const poor = await gateway.account({ grant: '0' })

      const response = await gateway.chat(poor.key, { model: 'text-only', ...said(chatImage), ...more })

      expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'unsupported_input' })
    },
  )
})

describe('an input passes', () => {
  test.each<[string, string, string, object]>([
    ['that the model reads', 'chat/completions', 'sees', said(chatImage)],
    ['of any kind if the row does not say', 'chat/completions', 'unknown', said({ type: 'file', file: {} })],
    [
      'that is the text of a document',
      'messages',
      'text-only',
      said({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } }),
    ],
  ])('an input passes %s', async (_, path, model, body) => {
    gateway.upstream.reply(chatAnswer())

    expect((await post(path, { model, ...body })).status).toBe(200)
  })
})

describe('with unsupported_inputs: note', () => {
  const NOTE = '[An image was left out here, because this model does not read images.]'
  const turns = {
    messages: [
      { role: 'user', content: [pdf, { type: 'text', text: 'Read it.' }] },
      { role: 'assistant', content: [toolUse] },
      { role: 'user', content: [toolResult] },
    ],
  }

  test('a converted request gets a text in the place of each part', async () => {
    gateway.upstream.reply(chatAnswer())

    const { status } = await post('messages', { model: 'noting', ...turns })

    expect(status).toBe(200)
    expect(sentMessages()).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '[The file "plan" was left out here, because this model does not read files.]',
          },
          { type: 'text', text: 'Read it.' },
        ],
      },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'toolu_1', content: NOTE },
    ])
  })

  test('a live stream gets the texts too, and numbers of calls keep their digits', async () => {
    gateway.upstream.reply(chatAnswer())
    const id = '12345678901234567890'
    const body = JSON.stringify({ model: 'noting', max_tokens: 10, ...turns })

    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: body.replace('"path":"a.png"', `"id":${id}`),
    })
    await post('messages', { model: 'noting-live', stream: true, ...turns })

    expect(response.status).toBe(200)
    expect(JSON.stringify(sentMessages())).toContain(NOTE)
    expect(
      gateway.upstream.requests.map(({ body: sent }) => new TextDecoder().decode(sent)).join(),
    ).toContain(`{\\"id\\":${id}}`)
  })

  test('a document that chat cannot carry is replaced too', async () => {
    gateway.upstream.reply(chatAnswer())
    const linked = { ...pdf, source: { type: 'url', url: 'https://example.com/a.pdf' } }

    expect((await post('messages', { model: 'noting', ...said(linked) })).status).toBe(200)
  })

  test.each<[string, string, string, object]>([
    ['the chat route', 'chat/completions', 'noting', said(chatImage)],
    ['a native provider', 'messages', 'native', said(image)],
  ])('%s refuses it, because nothing is converted', async (_, path, model, body) => {
    expect(await refusalOf(await post(path, { model, ...body }))).toMatchObject({
      status: 400,
      code: 'unsupported_input',
      param: 'messages[0].content[0]',
    })
  })
})
