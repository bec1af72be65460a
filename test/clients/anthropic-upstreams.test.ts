import Anthropic0 from '@anthropic-ai/sdk'
import Anthropic1 from 'anthropic-1'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startNativeGateway, type NativeGateway } from '../scenarios/gateways/native-gateway.ts'
import { DONE, delta, finish, ROLE, usage } from '../support/stream-frames.ts'
import type { TestAccount } from '../support/gateway.ts'
import { sse } from '../support/upstream-replies.ts'

let gateway: NativeGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startNativeGateway()
  ada = await gateway.account()
})
afterAll(() => gateway.stop())

const majors = [
  ['0', Anthropic0 as unknown as typeof Anthropic1],
  ['1', Anthropic1],
] as const

const PDF = Buffer.from('%PDF-1.4 The sky is green.').toString('base64')
const document = {
  type: 'document' as const,
  source: { type: 'base64' as const, media_type: 'application/pdf' as const, data: PDF },
  title: 'Sky',
  citations: { enabled: true },
}
const weather = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
}
const hello = { max_tokens: 2000, messages: [{ role: 'user' as const, content: 'Hello' }] }

describe.each(majors)('the Anthropic SDK %s', (_, Anthropic) => {
  const client = () => new Anthropic({ apiKey: ada.key, baseURL: gateway.url, maxRetries: 0 })

  describe('over a native upstream', () => {
    test('over a native upstream, the Anthropic SDK streams thinking, its signature and citations of a document', async () => {
      const seen: string[] = []
      const stream = client().messages.stream({
        ...hello,
        model: 'native',
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [{ role: 'user', content: [document, { type: 'text', text: 'What does it say?' }] }],
      })
      stream.on('thinking', part => void seen.push(`thinking: ${part}`))
      stream.on('signature', signature => void seen.push(`signature: ${signature}`))
      stream.on('citation', ({ cited_text }) => void seen.push(`citation: ${cited_text}`))
      const message = await stream.finalMessage()

      expect(seen).toEqual([
        'thinking: Let me ',
        'thinking: think.',
        'signature: c2lnbmVk',
        'citation: The sky is green.',
      ])
      expect(message.content).toMatchObject([
        { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'It says the sky is green.', citations: [{ cited_text: 'The sky is green.' }] },
      ])
      expect(message.model).toBe('native')
      expect(gateway.native.ledger().at(-1)!.body).toMatchObject({ messages: [{ content: [document, {}] }] })
    })

    test('over a native upstream, the Anthropic SDK streams the complete input of a tool', async () => {
      const message = await client()
        .messages.stream({ ...hello, model: 'native', tools: [weather] })
        .finalMessage()

      expect(message.content.at(-1)).toMatchObject({
        type: 'tool_use',
        id: 'toolu_1',
        input: { city: 'Oslo' },
      })
      expect(message.stop_reason).toBe('tool_use')
    })

    test('over a native upstream, the Anthropic SDK reads the cost at the end of a stream', async () => {
      const stream = await client().messages.create({ ...hello, model: 'native', stream: true })
      const usages: unknown[] = []

      for await (const event of stream) if (event.type === 'message_delta') usages.push(event.usage)

      expect(usages).toEqual([expect.objectContaining({ output_tokens: 5, cost_usd: '0.00007' })])
    })

    test('over a native upstream, the Anthropic SDK gets an answer with everything that was not streamed', async () => {
      const message = await client().messages.create({
        ...hello,
        model: 'native',
        thinking: { type: 'enabled', budget_tokens: 1024 },
      })

      expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
      expect(message.usage).toMatchObject({ cost_usd: '0.00007' })
    })

    test('over a native upstream, the Anthropic SDK sends its betas', async () => {
      await client().beta.messages.create({ ...hello, model: 'native', betas: ['context-1m-2025-08-07'] })

      expect(gateway.native.ledger().at(-1)!.headers['anthropic-beta']).toBe('context-1m-2025-08-07')
    })

    test('over a native upstream, the Anthropic SDK raises its own error in a stream', async () => {
      gateway.native.script({ breakAfter: 3, breakWith: 'error' })

      const failed = client()
        .messages.stream({ ...hello, model: 'native' })
        .finalMessage()

      expect(failed).rejects.toThrow('Overloaded')
    })
  })

  describe('over a chat upstream with live streams', () => {
    test('over a chat upstream with live streams, the Anthropic SDK streams text and parallel calls', async () => {
      const call = (index: number, members: object) => delta({ tool_calls: [{ index, ...members }] })
      gateway.upstream.reply(
        sse([
          ROLE,
          delta({ content: 'I ' }),
          delta({ content: 'look.' }),
          call(0, { id: 'a', type: 'function', function: { name: 'weather', arguments: '' } }),
          call(0, { function: { arguments: '{"city":' } }),
          call(0, { function: { arguments: '"Oslo"}' } }),
          call(1, { id: 'b', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }),
          finish('tool_calls'),
          usage(),
          DONE,
        ]),
      )
      const stream = client().messages.stream({ ...hello, model: 'live', tools: [weather] })
      const texts: string[] = []
      stream.on('text', text => void texts.push(text))
      const message = await stream.finalMessage()

      expect(texts).toEqual(['I ', 'look.'])
      expect(message).toMatchObject({
        model: 'live',
        id: 'chatcmpl-1',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'b', name: 'weather', input: { city: 'Rome' } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 10, output_tokens: 5 },
      })
    })

    test('over a chat upstream with live streams, the Anthropic SDK sends a document as a file, and drops the thinking of earlier turns', async () => {
      gateway.upstream.reply(sse([ROLE, delta({ content: 'Green.' }), finish('stop'), usage(), DONE]))

      const message = await client()
        .messages.stream({
          ...hello,
          model: 'live',
          thinking: { type: 'enabled', budget_tokens: 1024 },
          messages: [
            { role: 'user', content: 'Hello' },
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
                { type: 'text', text: 'Yes?' },
              ],
            },
            { role: 'user', content: [document, { type: 'text', text: 'What does it say?' }] },
          ],
        })
        .finalMessage()

      expect(message.content).toMatchObject([{ type: 'text', text: 'Green.' }])
      expect(gateway.upstream.requests.at(-1)!.json()).toMatchObject({
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Yes?' },
          {
            role: 'user',
            content: [
              {
                type: 'file',
                file: { filename: 'Sky.pdf', file_data: `data:application/pdf;base64,${PDF}` },
              },
              { type: 'text', text: 'What does it say?' },
            ],
          },
        ],
      })
    })

    test('over a chat upstream with live streams, the Anthropic SDK raises its own error when the stream breaks', async () => {
      gateway.upstream.reply(sse([ROLE, delta({ content: 'Hel' })]))

      const failed = client()
        .messages.stream({ ...hello, model: 'live' })
        .finalMessage()

      expect(failed).rejects.toThrow('The stream broke off')
    })
  })
})
