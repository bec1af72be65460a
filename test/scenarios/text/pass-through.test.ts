import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonMemberText, jsonObjectText, jsonText } from '../../properties/json-texts.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { answer, chatAnswer } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

const decoder = new TextDecoder()

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x', { context_window: 10_000_000 }),
      chatModel('same', { upstreams: [{ provider: 'main', model: 'same' }] }),
    ],
  })
  ada = await gateway.account({ grant: '1000000' })
})
afterAll(() => gateway.stop())

/** The reply to `body`, and the body that the upstream got, if any. */
async function ask(body: string): Promise<{ response: Response; sent: string | undefined }> {
  const before = gateway.upstream.requests.length
  const response = await gateway.chat(ada.key, body)
  const sent = gateway.upstream.requests[before]
  return { response, sent: sent === undefined ? undefined : decoder.decode(sent.body) }
}

/** Text that every serializer would change. The gateway does not read these members. */
const odd = {
  'a number with a trailing zero': '"temperature":1.0',
  'an integer that a double cannot represent': '"seed":12345678901234567890',
  'a number outside the range of a double': '"x":1e400',
  'a duplicate key that the gateway does not read': '"user":"a","user":"b"',
  'a key in two cases that the gateway does not read': '"user":"a","User":"b"',
  'lone surrogates as escapes': '"x":"\\ud800 \\udc00\\uD83D"',
  'unnecessary escapes': '"x":"\\u0041\\/\\u000a"',
  'emoji and other scripts': '"x":"😀👩‍👩‍👧 漢字 \u2028"',
  'unusual whitespace': '\n\t"x"\r\n :  [ 1 ,2 ] ',
  'an empty key and __proto__': '"":1,"__proto__":{"a":1}',
  'a model and a usage in a nested object': '"metadata":{"model":"gpt-x","usage":{}}',
} as const

describe('only the bytes of the model change in a request', () => {
  test.each(Object.entries(odd))(
    'only the bytes of the model change in a request: %s',
    async (_, members) => {
      const request = (model: string) =>
        ` {${members},"messages":[{"role":"user","content":"Hi"}] ,"model" : ${model}}\n`
      gateway.upstream.reply(chatAnswer())

      const { response, sent } = await ask(request('"gpt-x"'))

      expect(response.status).toBe(200)
      expect(sent).toBe(request('"gpt-x-upstream"'))
    },
  )

  test('a model name with escapes and a prefix, under a key with escapes', async () => {
    const request = (model: string) => `{"\\u006dodel":${model},"messages":[]}`

    const { sent } = await ask(request('"vendor\\/\\u0067pt-x"'))

    expect(sent).toBe(request('"gpt-x-upstream"'))
  })

  test('nothing changes if the upstream has the same model name', async () => {
    const request = '{"model":"sam\\u0065","messages":[]}'

    const { sent } = await ask(request)

    expect(sent).toBe(request)
  })
})

describe('only the bytes of the model and the cost change in a reply', () => {
  const usage = '"prompt_tokens":10 , "completion_tokens" :5'

  test.each(Object.entries(odd))(
    'only the bytes of the model and the cost change in a reply: %s',
    async (_, members) => {
      const reply = (model: string, cost: string) =>
        `\n{${members},"choices":[{"message":{"content":"Hello","model":"x"}}],"usage":{${usage}${cost} }, "model":${model} } `
      gateway.upstream.reply(answer(reply('"up"', '')))

      const { response } = await ask('{"model":"gpt-x","messages":[]}')

      expect(response.headers.get('x-service-cost-usd')).toBe('0.00007')
      expect(decoder.decode(await response.arrayBuffer())).toBe(reply('"gpt-x"', ',"cost_usd":"0.00007"'))
    },
  )

  test('the upstream’s own usage.cost_usd is replaced in its position', async () => {
    const reply = (model: string, cost: string) =>
      `{"model":${model},"choices":[],"usage":{"cost_usd":${cost},${usage}}}`
    gateway.upstream.reply(answer(reply('"up"', '0.5')))

    const { response } = await ask('{"model":"gpt-x","messages":[]}')

    expect(await response.text()).toBe(reply('"gpt-x"', '"0.00007"'))
  })

  test('a reply without a model gets the model name', async () => {
    gateway.upstream.reply(answer(`{"choices":[],"usage":{${usage}}}`))

    const { response } = await ask('{"model":"gpt-x","messages":[]}')

    expect(await response.text()).toBe(
      `{"model":"gpt-x","choices":[],"usage":{${usage},"cost_usd":"0.00007"}}`,
    )
  })
})

describe('two megabytes of text are forwarded unchanged in both directions', () => {
  test.each([
    ['of ASCII', 'lorem \\"ipsum\\" dolor\\n'],
    ['of other scripts', '漢字かな交じり文😀'],
    ['of escapes', '\\u6f22\\ud83d\\ude00\\\\'],
  ])('two megabytes of text are forwarded unchanged in both directions %s', async (_, piece) => {
    const content = piece.repeat(Math.ceil(2_000_000 / Buffer.byteLength(piece)))
    const request = (model: string) =>
      `{"messages":[{"role":"user","content":"${content}"}],"seed":1.0,"model":${model}}`
    const reply = (model: string, cost: string) =>
      `{"model":${model},"choices":[{"message":{"content":"${content}"}}],"usage":{"prompt_tokens":0,"completion_tokens":0${cost}}}`
    gateway.upstream.reply(answer(reply('"up"', '')))

    const { response, sent } = await ask(request('"gpt-x"'))

    // Compared as booleans, because a diff of two megabytes is not readable.
    expect(sent === request('"gpt-x-upstream"')).toBe(true)
    expect((await response.text()) === reply('"gpt-x"', ',"cost_usd":"0"')).toBe(true)
  })
})

/** Leaves time to report a counterexample before the test times out. */
const SEARCH_MS_MAX = 60_000

const MODEL = '\u0001'
const namesRead = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
]
const namesInReply = ['model', 'choices', 'usage']

/** Objects with the given members and any other members, in any order and whitespace, without these names. */
function objectWith(members: readonly string[], names: readonly string[]): fc.Arbitrary<string> {
  const other = jsonMemberText.filter(text => {
    const [key = ''] = Object.keys(JSON.parse(`{${text}}`) as object)
    return !names.includes(key.toUpperCase().toLowerCase())
  })
  return fc
    .array(other, { maxLength: 5 })
    .map(others => others.concat(members))
    .chain(texts => fc.shuffledSubarray(texts, { minLength: texts.length }))
    .chain(jsonObjectText)
}

const requestText = fc
  .array(jsonText, { maxLength: 3 })
  .chain(messages => objectWith([`"model": ${MODEL}`, `"messages":[${messages.join(' ,')}]`], namesRead))
const replyText = objectWith(
  [
    `"model": ${MODEL}`,
    '"choices":[{"message":{"content":"Hi"}}]',
    '"usage":{"prompt_tokens":10,"completion_tokens":5}',
  ],
  namesInReply,
)

test('any request and any reply are forwarded byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(requestText, replyText, async (request, reply) => {
      gateway.upstream.reply(answer(reply.replace(MODEL, '"up"')))

      const { response, sent } = await ask(request.replace(MODEL, '"gpt-x"'))

      expect(response.status).toBe(200)
      expect(sent).toBe(request.replace(MODEL, '"gpt-x-upstream"'))
      const received = await response.text()
      expect(received).toBe(
        reply
          .replace(MODEL, '"gpt-x"')
          .replace('"completion_tokens":5', '"completion_tokens":5,"cost_usd":"0.00007"'),
      )
    }),
    { numRuns: 100, interruptAfterTimeLimit: SEARCH_MS_MAX },
  )
})

test('a body is valid if and only if JSON.parse accepts it without a byte order mark at its start', async () => {
  gateway.upstream.reply(chatAnswer())
  const slip = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 2 }),
    text: fc.constantFrom(
      '',
      ',',
      '"',
      '}',
      '\\',
      '0',
      ' ',
      '\u0000',
      '{"a":1}',
      '\uFEFF',
      '\\u12',
      '1e',
      'nul',
    ),
  })
  await fc.assert(
    fc.asyncProperty(requestText, slip, async (text, { at, cut, text: inserted }) => {
      const whole = text.replace(MODEL, '"gpt-x"')
      const start = at % (whole.length + 1)
      // Half a character is not UTF-8. The encoder replaces it with another character.
      const body = (whole.slice(0, start) + inserted + whole.slice(start + cut)).toWellFormed()

      const { response, sent } = await ask(body)
      const { error } = (await response.json()) as { error?: { code: string } }

      const json = body.replace(/^\uFEFF/, '')
      expect(error?.code === 'invalid_json').toBe(!isJsonObject(json))
      const isAnswered = response.status === 200
      expect([200, 400, 404]).toContain(response.status)
      expect(sent !== undefined).toBe(isAnswered)
      // Compared as text, because a member called "__proto__" confuses toEqual.
      if (isAnswered) expect(reread(sent ?? '')).toBe(reread(json, { model: 'gpt-x-upstream' }))
    }),
    {
      numRuns: 150,
      interruptAfterTimeLimit: SEARCH_MS_MAX,
      examples: [['{"model":"gpt-x","messages":[]}', { at: 0, cut: 0, text: '\uFEFF' }]],
    },
  )
})

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function reread(text: string, change: object = {}): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), ...change })
}
