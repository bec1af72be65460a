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

const anAnswer = { stream: false, reply: json(answer) }
const aStream = { stream: true, reply: sse([`data: ${JSON.stringify(frame)}\n\n`, 'data: [DONE]\n\n']) }

// The row's own ceiling is 1,000 tokens.
test.each([
  ['an answer', 'the ceiling it was asked with', anAnswer, 5, 5],
  ['a stream', 'the ceiling it was asked with', aStream, 5, 5],
  ['an answer', 'its model’s, where more was asked for', anAnswer, 5000, 1000],
  ['a stream', 'its model’s, where more was asked for', aStream, 5000, 1000],
] as const)(
  'the estimate of %s without usage is at most %s, and the books agree',
  async (_of, _most, { stream, reply }, ceiling, charged) => {
    gateway.upstream.reply(reply)
    const ada = await gateway.account()

    const response = await gateway.chat(ada.key, {
      model: 'chat',
      stream,
      max_tokens: ceiling,
      messages: [{ role: 'user', content: 'Say it' }],
    })
    await response.text()

    const { data } = await gateway.read<{ data: UsageRow[] }>(ada.key, '/v1/usage')
    expect(data).toMatchObject([{ source: 'estimated', usage: { output_tokens: charged } }])
    expect(await gateway.admin<object>('POST', 'verify')).toMatchObject({ ok: true })
  },
)
