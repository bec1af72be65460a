import { afterAll, beforeAll, expect, test } from 'bun:test'
import { json, sse } from '../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway, type UsageRow } from './scripted-gateway.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ models: [chatModel('chat')] })
})
afterAll(() => gateway.stop())

const LONG = 'many words that nobody asked for, '.repeat(200)
const answer = {
  id: 'a',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: LONG }, finish_reason: 'stop' }],
}
const frame = {
  id: 'a',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: LONG }, finish_reason: 'stop' }],
}

// The row's prices: two dollars a million tokens in and ten out; the request's ceiling is 5 tokens.
test.each([
  ['an answer', false, json(answer)],
  ['a stream', true, sse([`data: ${JSON.stringify(frame)}\n\n`, 'data: [DONE]\n\n'])],
] as const)(
  'the estimate of %s without usage is at most the worst case, and the books agree',
  async (_, stream, reply) => {
    gateway.upstream.reply(reply)
    const ada = await gateway.account()

    const response = await gateway.chat(ada.key, {
      model: 'chat',
      stream,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Say five words' }],
    })
    await response.text()

    const { data } = await gateway.read<{ data: UsageRow[] }>(ada.key, '/v1/usage')
    expect(data).toMatchObject([{ source: 'estimated', usage: { output_tokens: 5 } }])
    expect(await gateway.admin<object>('POST', 'verify')).toMatchObject({ ok: true })
  },
)
