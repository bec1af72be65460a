import { describe, expect, test } from 'bun:test'
import { sentText } from '../support/sent-text.ts'
import fc from 'fast-check'
import { usd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { parseJsonObject } from '../../src/protocol/json/parse-json.ts'
import type { ChatMessage, ChatPart } from '../../src/protocol/messages/chat-body.ts'
import { messageOf } from '../../src/protocol/messages/message.ts'
import { messageEvents, messageJson } from '../../src/protocol/messages/reply.ts'
import { chatRequestOf, readMessagesRequest } from '../../src/protocol/messages/request.ts'
import { conversation, type Facts } from './messages-conversations.ts'

const receipt = { model: 'm', usage: { ...NO_USAGE, input: 5, output: 7 }, cost: usd('0.1') }

/** The chat request for a messages request, as an upstream reads it. */
function upstreamSees(json: string): readonly ChatMessage[] {
  const request = readMessagesRequest(parseJsonObject(sentText(json)))
  const body = chatRequestOf(request, { model: 'up', maxTokensField: 'max_tokens' })
  return JSON.parse(body).messages
}

const partsOf = ({ content }: ChatMessage): readonly ChatPart[] => {
  if (content === null || content === '') return []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

const isCaption = (text: string) => /^Images in the result of tool call \S+:$/.test(text)

/** An upstream that answers with every text and every call of its request, in order. */
function echo(messages: readonly ChatMessage[]) {
  const content = messages
    .flatMap(partsOf)
    .filter(part => part.type === 'text')
    .filter(({ text }) => !isCaption(text))
  const calls = messages.flatMap(message => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
  const message = { role: 'assistant', content, tool_calls: calls }
  return { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
}

/** The texts in chat's order: the results of a round go before the user's other texts. */
function textsOf({ system, rounds }: Facts): string[] {
  const texts = [system.join('\n\n')]
  for (const { assistantTexts, results, userTexts } of rounds) {
    texts.push(assistantTexts.join('\n\n'), ...results.map(({ text }) => text), ...userTexts)
  }
  return texts.filter(text => text !== '')
}

/** The JSON from an upstream that parses numbers as doubles. */
const canonical = (json: string) => JSON.stringify(JSON.parse(json))

describe('any conversation', () => {
  test('any conversation returns from an echoing upstream with every text, id, name and argument in order', () => {
    fc.assert(
      fc.property(conversation, ({ json, facts }) => {
        const reply = JSON.parse(
          messageJson(
            messageOf(echo(upstreamSees(json)), () => 'req_1'),
            receipt,
          ),
        )

        const blocks: { type: string; text: string; id: string; name: string; input: unknown }[] =
          reply.content
        const said = blocks.filter(({ type }) => type === 'text').map(({ text }) => text)
        const called = blocks.filter(({ type }) => type === 'tool_use')
        expect(said).toEqual(textsOf(facts))
        expect(called.map(({ id, name, input }) => [id, name, JSON.stringify(input)])).toEqual(
          facts.rounds.flatMap(({ calls }) =>
            calls.map(({ id, name, argumentsText }) => [id, name, canonical(argumentsText)]),
          ),
        )
      }),
      { numRuns: 150 },
    )
  })

  test('any conversation has the results of every round directly after the message with the calls, each with its id', () => {
    fc.assert(
      fc.property(conversation, ({ json, facts }) => {
        const messages = upstreamSees(json)

        const rounds = facts.rounds.filter(({ calls }) => calls.length > 0)
        const callers = messages.flatMap((message, index) =>
          message.role === 'assistant' && message.tool_calls !== undefined ? [index] : [],
        )
        expect(callers).toHaveLength(rounds.length)
        for (const [nth, { results }] of rounds.entries()) {
          const behind = messages.slice(callers[nth]! + 1, callers[nth]! + 1 + results.length)
          expect(behind).toEqual(
            results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
          )
        }
      }),
      { numRuns: 150 },
    )
  })

  test('any conversation keeps every image, and those of a result after a caption with the call’s id', () => {
    fc.assert(
      fc.property(conversation, ({ json, facts }) => {
        const parts = upstreamSees(json).flatMap(partsOf)

        const found: string[] = []
        let owner = ''
        for (const part of parts) {
          if (part.type === 'text') owner = isCaption(part.text) ? part.text : ''
          else if (part.type === 'image_url')
            found.push(
              part.image_url.url.includes('/r') ? `${owner} ${part.image_url.url}` : part.image_url.url,
            )
        }
        const expected = facts.rounds.flatMap(({ results, userImages }) => [
          ...results.flatMap(({ id, images }) =>
            images.map(url => `Images in the result of tool call ${id}: ${url}`),
          ),
          ...userImages,
        ])
        expect(found.toSorted()).toEqual(expected.toSorted())
      }),
      { numRuns: 100 },
    )
  })

  test('any conversation has the same content in events as in the JSON reply', () => {
    fc.assert(
      fc.property(conversation, ({ json }) => {
        const message = messageOf(echo(upstreamSees(json)), () => 'req_1')

        const fromEvents = assembled(messageEvents(message, receipt))

        expect(fromEvents).toEqual(JSON.parse(messageJson(message, receipt)))
      }),
      { numRuns: 100 },
    )
  })
})

/** The message that a client of the dialect reads from the events. */
function assembled(stream: string) {
  let message: { content: Record<string, unknown>[]; usage: object } & Record<string, unknown> = {
    content: [],
    usage: {},
  }
  let inputJson = ''
  for (const frame of stream.slice(0, -2).split('\n\n')) {
    const event = JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7))
    if (event.type === 'message_start') message = event.message
    if (event.type === 'content_block_start') {
      message.content[event.index] = event.content_block
      inputJson = ''
    }
    const open = message.content.at(-1)
    if (event.delta?.type === 'text_delta') open!['text'] = `${String(open!['text'])}${event.delta.text}`
    if (event.delta?.type === 'input_json_delta') inputJson += event.delta.partial_json
    if (event.type === 'content_block_stop' && open!['type'] === 'tool_use')
      open!['input'] = JSON.parse(inputJson)
    if (event.type === 'message_delta') {
      message = { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } }
    }
  }
  return message
}
