import { expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { readCountTokensRequest } from './count-tokens.ts'
import { chatRequestOf, readMessagesRequest } from './request.ts'

const ephemeral = { type: 'ephemeral', ttl: '1h' }
const rounds = 30

/** A request like those of coding agents in the middle of their work, with many fields that are not in the contract. */
function agentBody() {
  const properties = { path: { type: 'string', description: 'An absolute path. '.repeat(10) } }
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties }
  const tools = Array.from({ length: 20 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'Reads and writes files. '.repeat(30),
    input_schema: schema,
    ...(index > 15 ? { defer_loading: true } : {}),
  }))
  const work = Array.from({ length: rounds }, (_, index) => [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should look.', signature: 'c2lnbmF0dXJl'.repeat(20) },
        { type: 'text', text: 'Reading two files.' },
        {
          type: 'tool_use',
          id: `toolu_${index}a`,
          name: 'tool_1',
          input: { path: '/a.ts' },
          caller: { type: 'direct' },
        },
        { type: 'tool_use', id: `toolu_${index}b`, name: 'tool_1', input: { path: '/b.ts' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: `toolu_${index}a`, content: 'export {}\n'.repeat(60) },
        {
          type: 'tool_result',
          tool_use_id: `toolu_${index}b`,
          is_error: true,
          content: [{ type: 'text', text: 'No such file.' }],
          cache_control: ephemeral,
        },
        { type: 'text', text: '<system-reminder>Mind the style.</system-reminder>' },
      ],
    },
    { role: 'system', content: `Reminder ${index}.` },
  ])
  return {
    model: 'm',
    max_tokens: 32_000,
    stream: true,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli; cch=00000;' },
      { type: 'text', text: 'You are a coding agent.', cache_control: ephemeral },
      { type: 'text', text: 'Write well. '.repeat(400), cache_control: ephemeral },
    ],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Go on.' }] }, ...work.flat()],
    tools: [...tools, { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
  }
}

function agentDocument() {
  return parseJsonObject(sentText(JSON.stringify(agentBody())))
}

test('a coding agent’s request becomes a chat request with only chat fields', () => {
  const document = agentDocument()
  expect(document.text.length).toBeGreaterThan(50_000)

  const request = readMessagesRequest(document)
  const body = chatRequestOf(request, { model: 'up', maxTokensField: 'max_completion_tokens' })

  const sent = JSON.parse(body)
  expect(Object.keys(sent).sort()).toEqual([
    'max_completion_tokens',
    'messages',
    'metadata',
    'model',
    'tools',
  ])
  expect(sent.tools).toHaveLength(20)
  expect(sent.messages[0].content).toStartWith('You are a coding agent.\n\nWrite well.')
  expect(sent.messages[0].content).toEndWith(`Reminder ${rounds - 2}.\n\nReminder ${rounds - 1}.`)
  expect(sent.messages.slice(1, 6).map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
    'user',
  ])
  expect(body).not.toMatch(/cache_control|signature|defer_loading|billing|caller/)
  expect(request.isStream).toBe(true)
})

test('the token count of a coding agent’s request is near the estimate for its hold', () => {
  const { inputTokens } = readCountTokensRequest(agentDocument())

  const { inputTokensEstimate } = readMessagesRequest(agentDocument())
  expect(inputTokens).toBeGreaterThan(inputTokensEstimate * 0.7)
  expect(inputTokens).toBeLessThan(inputTokensEstimate * 1.1)
})
