import { afterAll, beforeAll, expect, test } from 'bun:test'
import { json, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  startScriptedGateway,
  type ScriptedGateway,
  type UsageRow,
} from '../gateways/scripted-gateway.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ models: [chatModel('chat')] })
})
afterAll(() => gateway.stop())

const LONG = 'many words that were not requested, '.repeat(200)
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

// The max_output_tokens of the row are 1,000.
test.each([
  ['an answer', 'the output ceiling of the request', anAnswer, 5, 5],
  ['a stream', 'the output ceiling of the request', aStream, 5, 5],
  ['an answer', 'the model’s maximum, if the request asks for more', anAnswer, 5000, 1000],
  ['a stream', 'the model’s maximum, if the request asks for more', aStream, 5000, 1000],
] as const)(
  'the estimate of %s without usage is at most %s, and the charge matches it',
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
