import { describe, expect, test } from 'bun:test'
import { sentText } from '../../../test/support/sent-text.ts'
import { GatewayError } from '../../domain/errors.ts'
import { parseJsonObject } from '../json/parse-json.ts'
import { chatRequestOf, readChatBody, readMessagesRequest } from './request.ts'

const upstream = { model: 'up-1', maxTokensField: 'max_tokens' } as const

function documentOf(json: string) {
  return parseJsonObject(sentText(json))
}

function read(body: object) {
  return readMessagesRequest(documentOf(JSON.stringify({ model: 'm', messages: [], ...body })))
}

function sent(body: object): Record<string, unknown> {
  return JSON.parse(chatRequestOf(read(body), upstream))
}

/** The chat messages for these turns. */
function messagesSent(messages: unknown[], system?: unknown): unknown {
  return sent({ messages, system })['messages']
}

function refusal(body: object): GatewayError {
  try {
    read(body)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('It was not refused.')
}

const text = (text: string) => ({ type: 'text', text })
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: `tool_of_${id}`, input })
const result = (id: string, content?: unknown) => ({ type: 'tool_result', tool_use_id: id, content })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } }
const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }
const call = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: `tool_of_${id}`, arguments: args },
})

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const toolMessage = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
const calling = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => call(id)),
})

describe('turns', () => {
  const cases: [title: string, turns: unknown[], sent: unknown[]][] = [
    ['string contents stay strings', [user('hi'), assistant('yes?')], [user('hi'), assistant('yes?')]],
    ['a single text block becomes a string', [user([text('hi')])], [user('hi')]],
    [
      'several text blocks of a user stay separate',
      [user([text('a'), text('b')])],
      [user([text('a'), text('b')])],
    ],
    [
      'several text blocks of an assistant become one text',
      [assistant([text('a'), text('b')])],
      [assistant('a\n\nb')],
    ],
    ['empty text blocks are dropped', [user([text(''), text('b')])], [user('b')]],
    ['a user turn without blocks stays as an empty one', [user([])], [user('')]],
    [
      'base64 images become data URLs in the same place',
      [user([text('a'), image, text('b')])],
      [user([text('a'), imagePart, text('b')])],
    ],
    [
      'images by link keep their link',
      [user([{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }])],
      [user([{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }])],
    ],
    [
      'calls become tool calls with their arguments as JSON',
      [assistant([text('let me see'), use('a', { path: '/é', deep: [1, { n: null }] })])],
      [{ ...assistant('let me see'), tool_calls: [call('a', '{"path":"/é","deep":[1,{"n":null}]}')] }],
    ],
    [
      'parallel calls keep their ids and order',
      [assistant([use('b'), use('a'), use('c')])],
      [calling('b', 'a', 'c')],
    ],
    ['a missing input is an empty one', [assistant([use('a', '')])], [calling('a')]],
    [
      'thinking is dropped, and so is a turn with only thinking',
      [
        assistant([{ type: 'thinking', thinking: 'hm', signature: 's' }, text('a')]),
        assistant([{ type: 'redacted_thinking', data: 'x' }]),
      ],
      [assistant('a')],
    ],
    [
      'cache_control and unknown members of known blocks are dropped',
      [
        user([{ ...text('a'), cache_control: { type: 'ephemeral' }, odd: 1 }]),
        assistant([{ ...use('a'), cache_control: { type: 'ephemeral' }, caller: { type: 'direct' } }]),
      ],
      [user('a'), calling('a')],
    ],
  ]

  test.each(cases)('turns: %s', (_title, turns, expected) => {
    const messages = messagesSent(turns)

    expect(messages).toEqual(expected)
  })
})

describe('tool results', () => {
  const asked = assistant([use('a'), use('b')])
  const cases: [title: string, turns: unknown[], sent: unknown[]][] = [
    [
      'several results in one turn become one message each, in order',
      [asked, user([result('b', 'B'), result('a', 'A')])],
      [calling('a', 'b'), toolMessage('b', 'B'), toolMessage('a', 'A')],
    ],
    [
      'results come before the text of their turn, in any order',
      [asked, user([text('x'), result('a', 'A'), text('y'), result('b', 'B'), image])],
      [
        calling('a', 'b'),
        toolMessage('a', 'A'),
        toolMessage('b', 'B'),
        user([text('x'), text('y'), imagePart]),
      ],
    ],
    [
      'results in several user turns come directly after the calls',
      [asked, user([result('a', 'A'), text('x')]), user([result('b', 'B'), text('y')])],
      [calling('a', 'b'), toolMessage('a', 'A'), toolMessage('b', 'B'), user('x'), user('y')],
    ],
    [
      'calls in several assistant turns become one message',
      [
        assistant([text('1'), use('a')]),
        assistant([text('2'), use('b')]),
        user([result('a', 'A'), result('b', 'B')]),
      ],
      [
        { ...assistant('1\n\n2'), tool_calls: [call('a'), call('b')] },
        toolMessage('a', 'A'),
        toolMessage('b', 'B'),
      ],
    ],
    [
      'results of an earlier round stay in that round',
      [assistant([use('a')]), user([result('a', 'A')]), assistant([use('b')]), user([result('b', 'B')])],
      [calling('a'), toolMessage('a', 'A'), calling('b'), toolMessage('b', 'B')],
    ],
    [
      'the texts of a result become one string',
      [user([result('a', [text('1'), text('2')])])],
      [toolMessage('a', '1\n\n2')],
    ],
    [
      'a result without content is an empty string',
      [user([result('a'), result('b', null), result('c', ''), result('d', [])])],
      ['a', 'b', 'c', 'd'].map(id => toolMessage(id, '')),
    ],
    [
      'images of a result go to the start of the turn, with a caption that names their call',
      [user([text('look'), result('a', [text('done'), image]), result('b', [image])])],
      [
        toolMessage('a', 'done'),
        toolMessage('b', ''),
        user([
          text('Images in the result of tool call a:'),
          imagePart,
          text('Images in the result of tool call b:'),
          imagePart,
          text('look'),
        ]),
      ],
    ],
    [
      'a failed call has its text, or else "Error"',
      [
        user([
          { ...result('a', 'no such file'), is_error: true },
          { ...result('b'), is_error: true },
        ]),
      ],
      [toolMessage('a', 'no such file'), toolMessage('b', 'Error')],
    ],
  ]

  test.each(cases)('tool results: %s', (_title, turns, expected) => {
    const messages = messagesSent(turns)

    expect(messages).toEqual(expected)
  })
})

describe('the system message', () => {
  const billing = text('x-anthropic-billing-header: cc_version=2; cch=abc;')
  const cases: [title: string, system: unknown, turns: unknown[], sent: string | undefined][] = [
    ['is a system string', 'be brief', [], 'be brief'],
    [
      'joins the system blocks',
      [text('a'), { ...text('b'), cache_control: { type: 'ephemeral' } }],
      [],
      'a\n\nb',
    ],
    [
      'includes system entries among the turns, in order',
      'a',
      [{ role: 'system', content: 'b' }, user('hi'), { role: 'developer', content: [text('c'), text('d')] }],
      'a\n\nb\n\nc\n\nd',
    ],
    ['has no telemetry block', [billing, text('a')], [], 'a'],
    ['has no telemetry line of a string', 'x-anthropic-billing-header: cc=1\nbe brief', [], 'be brief'],
    [
      'keeps the name of the telemetry header elsewhere',
      'see x-anthropic-billing-header: x',
      [],
      'see x-anthropic-billing-header: x',
    ],
    ['is absent when nothing is left of it', [billing], [], undefined],
    ['is absent for an empty string', '', [], undefined],
    ['is absent for null', null, [], undefined],
  ]

  test.each(cases)('the system message %s', (_title, system, turns, expected) => {
    const messages = messagesSent([...turns, user('last')], system) as { role: string; content: string }[]

    expect(messages.filter(({ role }) => role === 'system')).toEqual(
      expected === undefined ? [] : [{ role: 'system', content: expected }],
    )
    expect(messages[0]!.role).toBe(expected === undefined ? 'user' : 'system')
  })
})

describe('the rest of the request', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { name: 'weather', description: 'Tells it.', input_schema: schema }
  const weatherFunction = {
    type: 'function',
    function: { name: 'weather', description: 'Tells it.', parameters: schema },
  }

  test('tools become functions, and those without a schema are dropped', () => {
    const body = sent({
      tools: [
        { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
        {
          ...weather,
          type: 'custom',
          defer_loading: true,
          cache_control: { type: 'ephemeral' },
          strict: true,
        },
        { name: 'bare', input_schema: {} },
      ],
    })

    expect(body['tools']).toEqual([
      weatherFunction,
      { type: 'function', function: { name: 'bare', parameters: {} } },
    ])
  })

  test.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any', disable_parallel_tool_use: true }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'weather' },
      { type: 'function', function: { name: 'weather' } },
    ],
  ])('the tool choice %j becomes %j', (choice, expected) => {
    const body = sent({ tools: [weather], tool_choice: choice })

    expect(body['tool_choice']).toEqual(expected)
  })

  test.each(['auto', 'any', 'tool'])(
    'disable_parallel_tool_use beside the choice %j becomes parallel_tool_calls: false',
    type => {
      const choice = { type, name: 'weather', disable_parallel_tool_use: true }

      expect(sent({ tools: [weather], tool_choice: choice })).toMatchObject({ parallel_tool_calls: false })
    },
  )

  test.each([
    [{ tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: false } }],
    [{ tools: [weather], tool_choice: { type: 'auto' } }],
    [{ tools: [], tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ])('%j leaves parallel calls to the upstream', request => {
    expect(sent(request)).not.toHaveProperty('parallel_tool_calls')
  })

  test('when every tool was dropped, a tool choice without effect is dropped too', () => {
    const body = sent({
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'auto' },
    })

    expect(body).toEqual({ model: 'up-1', messages: [] })
  })

  test('temperature, top_p and metadata are kept, and stop_sequences become stop', () => {
    const body = sent({
      temperature: 0.7,
      top_p: 0.9,
      metadata: { user_id: 'u-1' },
      stop_sequences: ['END', '\n\n'],
    })

    expect(body).toEqual({
      model: 'up-1',
      messages: [],
      stop: ['END', '\n\n'],
      temperature: 0.7,
      top_p: 0.9,
      metadata: { user_id: 'u-1' },
    })
  })

  test('no other field reaches the upstream, not even stream', () => {
    const body = sent({
      stream: true,
      top_k: 5,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      context_management: { edits: [] },
      output_config: { effort: 'high' },
      service_tier: 'auto',
      container: null,
      n: 4,
    })

    expect(body).toEqual({ model: 'up-1', messages: [] })
  })

  test('null fields count as absent', () => {
    const nothing = { max_tokens: null, stream: null, system: null, tools: null, tool_choice: null }
    const body = sent({ ...nothing, stop_sequences: null, temperature: null, top_p: null, metadata: null })

    expect(body).toEqual({ model: 'up-1', messages: [] })
  })

  test('an empty list of stop sequences is not sent', () => {
    const body = sent({ stop_sequences: [] })

    expect(body).toEqual({ model: 'up-1', messages: [] })
  })

  test.each(['max_tokens', 'max_completion_tokens'] as const)(
    'the output ceiling is sent as %s, as the provider expects',
    field => {
      const sent = chatRequestOf(read({ max_tokens: 300 }), { model: 'up-1', maxTokensField: field })

      expect(JSON.parse(sent)).toEqual({
        model: 'up-1',
        [field]: 300,
        messages: [],
      })
    },
  )

  test('a request without an output ceiling is sent without one', () => {
    const request = read({})

    expect(request.outputCeiling).toBeUndefined()
    expect(sent({})).not.toHaveProperty('max_tokens')
  })

  test('numbers in arguments that a double cannot hold keep their digits', () => {
    const input = '{"id":12345678901234567890,"small":-0.12345678901234567890123,"huge":1e400,"plain":1.5}'
    const json = `{"model":"m","max_tokens":9007199254740991,"messages":[{"role":"assistant","content":[
      {"type":"tool_use","id":"a","name":"f","input":${input}}]}]}`

    const chat = readChatBody(documentOf(json))

    expect(chat.messages).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: input } }],
      },
    ])
  })

  test('lone surrogates and the line separators of JavaScript are kept', () => {
    const json = String.raw`{"model":"m","messages":[{"role":"user","content":"\ud83d \u2028 \ud83d\ude00"}]}`

    const body = chatRequestOf(readMessagesRequest(documentOf(json)), upstream)

    expect(JSON.parse(body).messages).toEqual([user('\ud83d \u2028 😀')])
  })

  test('the input estimate counts the converted request, with a fixed number for an image', () => {
    const pixels = { ...image, source: { ...image.source, data: 'A'.repeat(100_000) } }
    const thinking = { type: 'thinking', thinking: 'x'.repeat(100_000) }

    const { inputTokensEstimate } = read({
      messages: [user([pixels, text('x'.repeat(4_000))]), assistant([thinking, text('y')])],
    })

    expect(inputTokensEstimate).toBeGreaterThan(1_000 + 1_000)
    expect(inputTokensEstimate).toBeLessThan(1_000 + 2_500)
  })

  test('the texts for a tokenizer contain no image', () => {
    const request = read({ system: 's', messages: [user([image, text('hi')])], tools: [weather] })

    const { texts } = request.input()

    expect(texts).toContain('s')
    expect(texts).toContain('hi')
    expect(texts).toContain('Tells it.')
    expect(texts.join('')).not.toContain('base64')
  })
})

describe('documents', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
  const file = (filename: string) => ({
    type: 'file',
    file: { filename, file_data: 'data:application/pdf;base64,JVBERi0=' },
  })

  test.each([
    ['a PDF', { source: pdf }, [file('document.pdf')]],
    ['a PDF with a title', { source: pdf, title: 'a/b Report' }, [file('a b Report.pdf')]],
    ['a PDF with a context', { source: pdf, title: 'r.PDF', context: 'Old.' }, [text('Old.'), file('r.PDF')]],
    ['a text', { source: { type: 'text', media_type: 'text/plain', data: 'Sky.' } }, [text('Sky.')]],
    [
      'a text with a title',
      { source: { type: 'text', data: 'Sky.' }, title: 'T', citations: { enabled: true } },
      [text('T'), text('Sky.')],
    ],
    ['content', { source: { type: 'content', content: [text('a'), text('b')] } }, [text('a'), text('b')]],
    ['content that is a string', { source: { type: 'content', content: 'a' } }, [text('a')]],
  ])('%s becomes parts of the message', (_, block, parts) => {
    const { messages } = sent({ messages: [user([{ type: 'document', ...block }, text('What is it?')])] })

    expect(messages).toEqual([{ role: 'user', content: [...parts, text('What is it?')] }])
  })

  test('documents in a tool result become its text, and files in the message of the user', () => {
    const content = [
      { type: 'document', source: { type: 'text', data: 'Sky.' } },
      { type: 'document', source: pdf },
    ]

    const { messages } = sent({ messages: [user([result('a', content)])] })

    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Sky.' },
      { role: 'user', content: [text('Files in the result of tool call a:'), file('document.pdf')] },
    ])
  })

  test('documents are held at one token for each byte', () => {
    const source = { ...pdf, data: 'A'.repeat(40_000) }

    const { inputTokensEstimate } = read({ messages: [user([{ type: 'document', source }])] })

    expect(inputTokensEstimate).toBeGreaterThanOrEqual(30_000)
    expect(inputTokensEstimate).toBeLessThan(30_200)
  })
})

describe('a block of an unknown type', () => {
  const unknown = { type: 'hologram', text: 'Shiny.' }
  const nested = { type: 'web_search_tool_result', content: [{ type: 'x', text: 'Sky' }, { type: 'y' }] }

  test('a block of an unknown type in an earlier turn becomes its text, or is dropped', () => {
    const { messages } = sent({
      messages: [
        user([text('a'), unknown, { type: 'hologram', source: {} }]),
        assistant([{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, nested, text('b')]),
        user([result('t', [unknown, text('r')])]),
        user('now'),
      ],
    })

    expect(messages).toEqual([
      { role: 'user', content: [text('a'), text('Shiny.')] },
      { role: 'assistant', content: 'Sky\n\nb' },
      { role: 'tool', tool_call_id: 't', content: 'Shiny.\n\nr' },
      { role: 'user', content: 'now' },
    ])
  })

  test('a block of an unknown type in the newest turn of the user is refused, also if a turn of the assistant follows', () => {
    expect(() => read({ messages: [user([unknown]), assistant('I')] })).toThrow('"hologram"')
  })
})

describe('the error for a wrong field has its path', () => {
  const inBlock = (block: unknown, role = 'user') => ({
    messages: [user('hi'), { role, content: [text('a'), block] }],
  })
  const cases: [body: object, param: string, words: string][] = [
    [{ model: '' }, 'model', 'a non-empty string'],
    [{ model: 7 }, 'model', 'a non-empty string'],
    [{ messages: undefined }, 'messages', 'an array'],
    [{ messages: 'hi' }, 'messages', 'an array'],
    [{ messages: ['hi'] }, 'messages.0', 'an object'],
    [{ messages: [user('a'), { role: 'tool', content: 'x' }] }, 'messages.1.role', '"assistant"'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role', '"user"'],
    [{ messages: [user(null)] }, 'messages.0.content', 'a string or an array'],
    [{ messages: [user({ type: 'text' })] }, 'messages.0.content', 'a string or an array'],
    [inBlock('x'), 'messages.1.content.1', 'a block'],
    [inBlock({ type: 'hologram', source: {} }), 'messages.1.content.1.type', '"hologram"'],
    [inBlock({ type: 'document' }), 'messages.1.content.1.source', 'an object'],
    [
      inBlock({ type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } }),
      'messages.1.content.1.source.type',
      '"url"',
    ],
    [
      inBlock({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      'messages.1.content.1.source.type',
      '"file"',
    ],
    [
      inBlock({ type: 'document', source: { type: 'base64', media_type: 'application/pdf' } }),
      'messages.1.content.1.source.data',
      'a string',
    ],
    [
      inBlock({ type: 'document', source: { type: 'content', content: [{ type: 'hologram' }] } }),
      'messages.1.content.1.source.content.0.type',
      '"hologram"',
    ],
    [inBlock({ text: 'x' }), 'messages.1.content.1.type', 'missing'],
    [inBlock(use('a')), 'messages.1.content.1.type', '"tool_use"'],
    [inBlock(result('a', 'x'), 'assistant'), 'messages.1.content.1.type', '"tool_result"'],
    [inBlock(image, 'assistant'), 'messages.1.content.1.type', '"image"'],
    [inBlock({ type: 'text', text: 1 }), 'messages.1.content.1.text', 'a string'],
    [inBlock({ type: 'image' }), 'messages.1.content.1.source', 'an object'],
    [
      inBlock({ type: 'image', source: { type: 'file', file_id: 'f' } }),
      'messages.1.content.1.source.type',
      '"url"',
    ],
    [inBlock({ type: 'image', source: { type: 'url' } }), 'messages.1.content.1.source.url', 'a string'],
    [
      inBlock({ type: 'image', source: { type: 'base64', data: 'x' } }),
      'messages.1.content.1.source.media_type',
      'a string',
    ],
    [inBlock({ type: 'tool_result', content: 'x' }), 'messages.1.content.1.tool_use_id', 'a string'],
    [inBlock(result('a', 7)), 'messages.1.content.1.content', 'a string or an array'],
    [inBlock(result('a', [{ type: 'hologram' }])), 'messages.1.content.1.content.0.type', '"hologram"'],
    [inBlock({ ...use('a'), id: undefined }, 'assistant'), 'messages.1.content.1.id', 'a string'],
    [inBlock({ ...use('a'), name: 1 }, 'assistant'), 'messages.1.content.1.name', 'a string'],
    [inBlock(use('a', [1]), 'assistant'), 'messages.1.content.1.input', 'an object'],
    [{ system: [image] }, 'system.0.type', '"image"'],
    [{ system: 7 }, 'system', 'a string or an array'],
    [{ max_tokens: 0 }, 'max_tokens', 'an integer'],
    [{ max_tokens: 1.5 }, 'max_tokens', 'an integer'],
    [{ max_tokens: '5' }, 'max_tokens', 'an integer'],
    [{ stream: 'true' }, 'stream', 'true or false'],
    [{ tools: {} }, 'tools', 'an array'],
    [{ tools: ['x'] }, 'tools.0', 'an object'],
    [{ tools: [{ input_schema: {} }] }, 'tools.0.name', 'a non-empty string'],
    [{ tools: [{ name: 'x', input_schema: 'x' }] }, 'tools.0.input_schema', 'an object'],
    [{ tool_choice: 'auto' }, 'tool_choice', 'an object'],
    [{ tool_choice: { type: 'all' } }, 'tool_choice.type', '"any"'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name', 'a non-empty string'],
    [
      {
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'tool', name: 'web_search' },
      },
      'tool_choice.name',
      'the name of a tool with an "input_schema"',
    ],
    [
      { tool_choice: { type: 'any', disable_parallel_tool_use: 1 } },
      'tool_choice.disable_parallel_tool_use',
      'true or false',
    ],
    [{ stop_sequences: 'END' }, 'stop_sequences', 'an array'],
    [{ stop_sequences: ['a', 1] }, 'stop_sequences.1', 'a string'],
  ]

  test.each(cases)('%j is rejected at %s', (body, param, words) => {
    const error = refusal(body)

    expect(error.code).toBe('invalid_field')
    expect(error.extras.param).toBe(param)
    expect(error.message).toContain(words)
  })

  test.each([
    ['a repeated field', '{"model":"a","messages":[],"model":"b"}'],
    ['a field in another case', '{"model":"a","messages":[],"Max_Tokens":5}'],
  ])('%s is ambiguous', (_title, json) => {
    expect(() => readMessagesRequest(documentOf(json))).toThrow(
      expect.objectContaining({ code: 'ambiguous_field' }),
    )
  })

  test.each([
    ['results', (id: string) => [user([result(id, 'x'), text('and')])]],
    ['calls', (id: string) => [assistant([use(id)])]],
  ])('fifty thousand %s are all converted', (_title, turnsOf) => {
    const turns = Array.from({ length: 50_000 }, (_, index) => turnsOf(`id_${index}`)).flat()

    const { chatJson } = read({ messages: turns })

    expect(chatJson.split('"id_').length - 1).toBe(50_000)
  })

  test.each([{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])(
    'a thread such as %j is rejected with the code that makes clients send the whole conversation',
    thread => {
      const error = refusal({ thread })

      expect(error.code).toBe('thread_unsupported_request')
      expect(error.extras.param).toBe('thread')
    },
  )

  test('a thread may be null', () => {
    expect(sent({ thread: null })).toEqual({ model: 'up-1', messages: [] })
  })

  test('a schema nested too deeply to be written is rejected and does not crash', () => {
    const deep = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`
    const json = `{"model":"m","messages":[],"tools":[{"name":"f","input_schema":${deep}}]}`

    expect(() => readMessagesRequest(documentOf(json))).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    )
  })

  test('a schema of 490 levels is written', () => {
    const deep = `${'{"a":'.repeat(490)}1${'}'.repeat(490)}`
    const json = `{"model":"m","messages":[],"tools":[{"name":"f","input_schema":${deep}}]}`

    expect(readMessagesRequest(documentOf(json)).chatJson).toContain(deep)
  })
})
