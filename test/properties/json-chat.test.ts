import { describe, expect, test } from 'bun:test'
import { sentText } from '../support/sent-text.ts'
import { aDestination, aModelOn } from '../support/upstream-rows.ts'
import fc from 'fast-check'
import { formatUsd, nanoUsd } from '../../src/domain/money.ts'
import { chatDialect } from '../../src/protocol/chat/dialect.ts'
import { parseJsonObject } from '../../src/protocol/json/parse-json.ts'
import { jsonMemberText, jsonObjectText, jsonText } from './json-texts.ts'

const encoder = new TextEncoder()

const LIMITS = { inputTokensMax: undefined, outputTokensMax: undefined }

// JSON contains no control characters, so no generated text contains these marks.
const MODEL = '\u0001'
const FIRST_COST = '\u0002'
const FURTHER_COST = '\u0003'

const upstreamModel = fc.string({ unit: 'grapheme', minLength: 1 })
const cost = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(nanoUsd)

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

/** Members that the gateway does not read, including repeated keys. */
const othersThan = (names: readonly string[]) =>
  fc.array(
    jsonMemberText.filter(text => {
      const key = Object.keys(JSON.parse(`{${text}}`) as object)[0] ?? ''
      return !names.includes(key.toLowerCase())
    }),
    { maxLength: 6 },
  )

/** The members in any order and spacing. */
const objectOf = (members: fc.Arbitrary<string[]>) =>
  members.chain(texts => fc.shuffledSubarray(texts, { minLength: texts.length })).chain(jsonObjectText)

/** A name, plain or with every letter escaped. */
const modelText = fc.constantFrom('"gpt-x"', '"\\u0067\\u0070t-x"')

const messagesText = fc.array(jsonText, { maxLength: 3 }).map(items => `[${items.join(', ')}]`)

const requestText = objectOf(
  fc
    .tuple(othersThan(namesRead), messagesText, fc.constantFrom('"model"', '"mod\\u0065l"'))
    .map(([others, messages, key]) => others.concat(`${key}: ${MODEL}`, `"messages":${messages}`)),
)

const usageText = fc
  .tuple(othersThan(['cost', 'cost_usd']), fc.constantFrom('', ' ', '\n\t'))
  .map(([counts, space]) => `{${counts.join(',')}${counts.length === 0 ? FIRST_COST : FURTHER_COST}${space}}`)

const replyText = objectOf(
  fc
    .tuple(othersThan(namesInReply), messagesText, usageText)
    .map(([others, choices, usage]) =>
      others.concat(`"model":${MODEL}`, `"choices":${choices}`, `"usage":${usage}`),
    ),
)

const { provider: PROVIDER } = aDestination('main')
const ROW = aModelOn([])

/** The text with a member, or nothing, at the end of the usage. */
const withCost = (text: string, member: string) =>
  text.replace(FIRST_COST, member).replace(FURTHER_COST, member === '' ? '' : `,${member}`)

test('of any request only the model changes on the way up', () => {
  fc.assert(
    fc.property(requestText, modelText, upstreamModel, (text, model, name) => {
      const body = sentText(text.replace(MODEL, () => model))

      const up = chatDialect.forUpstream(chatDialect.readRequest(parseJsonObject(body)), name, PROVIDER, ROW)

      expect(up).toBe(text.replace(MODEL, () => JSON.stringify(name)))
    }),
    { numRuns: 300 },
  )
})

test('of any reply only the model changes, and the cost is added', () => {
  fc.assert(
    fc.property(replyText, modelText, fc.option(cost), (text, model, amount) => {
      const body = withCost(text, '').replace(MODEL, () => model)
      const member = amount === null ? '' : `"cost_usd":"${formatUsd(amount)}"`

      const sent = chatDialect.forClient(chatDialect.readAnswer(body, LIMITS)!, {
        model: 'row',
        cost: amount,
      })

      expect(sent).toBe(withCost(text, member).replace(MODEL, '"row"'))
    }),
    { numRuns: 300 },
  )
})

describe('two megabytes of text pass with only the model changed', () => {
  const odd = '"seed":1.0,"big":12345678901234567890,"huge":1e400,"seed":2,"lone":"\\ud800","emoji":"😀👩‍👩‍👧"'

  test.each([
    ['of ASCII', 'lorem \\"ipsum\\" dolor\\n'],
    ['of other scripts', '漢字かな交じり文😀'],
    ['of escapes', '\\u6f22\\ud83d\\ude00\\\\'],
  ])('two megabytes of text pass with only the model changed %s', (_, piece) => {
    const content = piece.repeat(Math.ceil(2_000_000 / encoder.encode(piece).length))
    const message = `{"role":"user","content":"${content}"}`
    const request = `{${odd},"messages":[${message}],"model":"gpt-x" }`
    const reply = `{${odd},"choices":[{"message":${message}}],"model":"up","usage":{"total_tokens":1}}`

    const read = chatDialect.readRequest(parseJsonObject(sentText(request)))
    const answer = chatDialect.readAnswer(reply, LIMITS)!
    const up = chatDialect.forUpstream(read, 'up', PROVIDER, ROW)
    const down = chatDialect.forClient(answer, { model: 'gpt-x', cost: nanoUsd(5n) })

    // Compared as booleans: a diff of two megabytes would be useless.
    expect(up === request.replace('"model":"gpt-x"', '"model":"up"')).toBe(true)
    expect(
      down ===
        reply.replace('"model":"up"', '"model":"gpt-x"').replace(':1}}', ':1,"cost_usd":"0.000000005"}}'),
    ).toBe(true)
  })
})
