/** One provider of text: what its requests must have, how it replies, and what is charged at the documented prices. */
export type ProviderShape = {
  /** The path with its query, and headers. */
  readonly request: { readonly target: string; readonly headers: Readonly<Record<string, string>> }
  /** The path of its list of models; undefined if it has none there. */
  readonly models?: string
  /** The header that it checks. */
  readonly keyHeader?: string
  readonly reply: object
  /** The events of a stream with the same usage. */
  readonly events: readonly string[]
  readonly charged: { readonly cost_usd: string; readonly usage: Readonly<Record<string, number>> }
}

export type RecordedTarget = { readonly target: string; readonly headers: Readonly<Record<string, string>> }

export type ShapedServer = {
  readonly origin: string
  readonly requests: readonly RecordedTarget[]
  /** The provider takes another key from now on. */
  changeKey(): void
  stop(): void
}

const MESSAGE = { role: 'assistant', content: 'Hi' }
const chat = (more: object, choice: object = {}, message: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1795349751,
  model: 'upstream-name',
  choices: [
    { index: 0, message: { ...MESSAGE, ...message }, logprobs: null, finish_reason: 'stop', ...choice },
  ],
  ...more,
})

/** The chunks of a chat stream. The usage is in a chunk of its own, or with the last choice. */
function chunks(usage: object, { usageWithChoice = false, more = {} } = {}): string[] {
  const chunk = (choices: readonly object[], rest: object = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1795349751, model: 'upstream-name', choices, ...rest })}\n\n`
  const text = chunk([{ index: 0, delta: MESSAGE, finish_reason: null }])
  const stop = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const last = usageWithChoice
    ? [chunk(stop, { usage, ...more })]
    : [chunk(stop), chunk([], { usage, ...more })]
  return [text, ...last, 'data: [DONE]\n\n']
}

const bearer = (variable: string) => ({ authorization: `Bearer value-of-${variable}` })

const openAiUsage = {
  prompt_tokens: 1200,
  completion_tokens: 50,
  total_tokens: 1250,
  prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 30,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}
const anthropicUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 200,
  cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
  output_tokens: 30,
  service_tier: 'standard',
}
const geminiUsage = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 121 }
const mistralUsage = { prompt_tokens: 20, total_tokens: 30, completion_tokens: 10 }
const deepseekUsage = {
  prompt_tokens: 100,
  completion_tokens: 40,
  total_tokens: 140,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 25 },
  prompt_cache_hit_tokens: 64,
  prompt_cache_miss_tokens: 36,
}
const groqUsage = {
  queue_time: 0.05,
  prompt_tokens: 40,
  prompt_time: 0.002,
  completion_tokens: 20,
  completion_time: 0.03,
  total_tokens: 60,
  total_time: 0.032,
}
const openRouterUsage = {
  prompt_tokens: 14,
  completion_tokens: 16,
  total_tokens: 30,
  cost: 0.000145,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  cost_details: { upstream_inference_cost: null },
  completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
}
const vllmUsage = { prompt_tokens: 12, total_tokens: 20, completion_tokens: 8, prompt_tokens_details: null }
const ollamaUsage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const filtered = { hate: { filtered: false, severity: 'safe' } }

/** The providers of docs/catalog.md, in its order. */
export const providerShapes = {
  openai: {
    request: {
      target: '/v1/chat/completions',
      headers: {
        ...bearer('OPENAI_API_KEY'),
        'openai-organization': 'value-of-OPENAI_ORGANIZATION',
      },
    },
    models: '/v1/models',
    keyHeader: 'authorization',
    reply: chat({ usage: openAiUsage, service_tier: 'default', system_fingerprint: null }),
    events: chunks(openAiUsage),
    charged: {
      cost_usd: '0.000848',
      usage: { input_tokens: 1200, cached_input_tokens: 1024, output_tokens: 50, reasoning_tokens: 30 },
    },
  },
  azure: {
    request: {
      target: '/openai/v1/chat/completions',
      headers: { 'api-key': 'value-of-AZURE_OPENAI_API_KEY' },
    },
    models: '/openai/v1/models',
    keyHeader: 'api-key',
    reply: chat(
      { usage: openAiUsage, prompt_filter_results: [{ prompt_index: 0, content_filter_results: filtered }] },
      { content_filter_results: filtered },
    ),
    events: chunks(openAiUsage),
    charged: {
      cost_usd: '0.001264',
      usage: { input_tokens: 1200, cached_input_tokens: 1024, output_tokens: 50, reasoning_tokens: 30 },
    },
  },
  anthropic: {
    request: {
      target: '/v1/messages',
      headers: { 'x-api-key': 'value-of-ANTHROPIC_API_KEY', 'anthropic-version': '2023-06-01' },
    },
    models: '/v1/models',
    keyHeader: 'x-api-key',
    reply: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'upstream-name',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: anthropicUsage,
    },
    events: [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'upstream-name',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...anthropicUsage, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 30 },
      },
      { type: 'message_stop' },
    ].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    charged: {
      cost_usd: '0.001005',
      usage: {
        input_tokens: 310,
        cached_input_tokens: 200,
        cache_write_tokens: 60,
        cache_write_1h_tokens: 40,
        output_tokens: 30,
      },
    },
  },
  gemini: {
    request: {
      target: '/v1beta/openai/chat/completions',
      headers: { 'x-goog-api-key': 'value-of-GEMINI_API_KEY' },
    },
    models: '/v1beta/openai/models',
    keyHeader: 'x-goog-api-key',
    reply: chat({ usage: geminiUsage }),
    events: chunks(geminiUsage, { usageWithChoice: true }),
    charged: {
      cost_usd: '0.0002827',
      usage: { input_tokens: 9, output_tokens: 112, reasoning_tokens: 100 },
    },
  },
  mistral: {
    request: { target: '/v1/chat/completions', headers: bearer('MISTRAL_API_KEY') },
    models: '/v1/models',
    keyHeader: 'authorization',
    reply: chat({ usage: mistralUsage }, {}, { tool_calls: null }),
    events: chunks(mistralUsage, { usageWithChoice: true }),
    charged: { cost_usd: '0.000005', usage: { input_tokens: 20, output_tokens: 10 } },
  },
  deepseek: {
    request: { target: '/v1/chat/completions', headers: bearer('DEEPSEEK_API_KEY') },
    models: '/v1/models',
    keyHeader: 'authorization',
    reply: chat({ usage: deepseekUsage, system_fingerprint: 'fp_1' }, {}, { reasoning_content: 'Greet.' }),
    events: chunks(deepseekUsage, { usageWithChoice: true }),
    charged: {
      cost_usd: '0.000028672',
      usage: { input_tokens: 100, cached_input_tokens: 64, output_tokens: 40, reasoning_tokens: 25 },
    },
  },
  groq: {
    request: { target: '/openai/v1/chat/completions', headers: bearer('GROQ_API_KEY') },
    models: '/openai/v1/models',
    keyHeader: 'authorization',
    reply: chat({
      usage: groqUsage,
      usage_breakdown: null,
      x_groq: { id: 'req_1' },
      service_tier: 'on_demand',
    }),
    events: chunks(groqUsage, { more: { x_groq: { id: 'req_1', usage: groqUsage } } }),
    charged: { cost_usd: '0.0000394', usage: { input_tokens: 40, output_tokens: 20 } },
  },
  openrouter: {
    request: {
      target: '/api/v1/chat/completions',
      headers: {
        ...bearer('OPENROUTER_API_KEY'),
        'http-referer': 'https://example.com',
        'x-title': 'Example',
      },
    },
    models: '/api/v1/models',
    keyHeader: 'authorization',
    reply: chat(
      { usage: openRouterUsage, provider: 'OpenAI' },
      { native_finish_reason: 'stop' },
      { refusal: null, reasoning: null },
    ),
    events: [': OPENROUTER PROCESSING\n\n', ...chunks(openRouterUsage)],
    charged: { cost_usd: '0.0001595', usage: { input_tokens: 14, output_tokens: 16 } },
  },
  vllm: {
    request: { target: '/v1/chat/completions', headers: bearer('VLLM_API_KEY') },
    models: '/v1/models',
    keyHeader: 'authorization',
    reply: chat(
      { usage: vllmUsage, prompt_logprobs: null, kv_transfer_params: null },
      { stop_reason: null },
      { tool_calls: [] },
    ),
    events: chunks(vllmUsage),
    charged: { cost_usd: '0.0000014', usage: { input_tokens: 12, output_tokens: 8 } },
  },
  ollama: {
    request: { target: '/v1/chat/completions', headers: { accept: 'application/json' } },
    models: '/v1/models',
    reply: chat({ usage: ollamaUsage, system_fingerprint: 'fp_ollama' }),
    events: chunks(ollamaUsage),
    charged: { cost_usd: '0', usage: { input_tokens: 11, output_tokens: 7 } },
  },
} as const satisfies Readonly<Record<string, ProviderShape>>

/** A request with it is refused, with a message that repeats the request's headers. */
export const REFUSED_TEMPERATURE = 9

/** A server with the paths and replies of a provider. It refuses any other path, and a wrong key. */
export function startShapedServer(id: string): ShapedServer {
  const shape: ProviderShape = providerShapes[id as keyof typeof providerShapes]
  const requests: RecordedTarget[] = []
  let isKeyChanged = false
  const isKey = (headers: Headers) => {
    if (shape.keyHeader === undefined) return true
    return !isKeyChanged && headers.get(shape.keyHeader) === shape.request.headers[shape.keyHeader]
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const target = pathname + search
      if (!isKey(request.headers))
        return Response.json(
          { error: { message: 'Wrong key.', type: 'invalid_request_error' } },
          { status: 401 },
        )
      if (request.method === 'GET' && target === shape.models)
        return Response.json({ object: 'list', data: [] })
      if (request.method !== 'POST' || target !== shape.request.target)
        return new Response('', { status: 404 })
      requests.push({ target, headers: Object.fromEntries(request.headers) })
      const { stream, temperature } = (await request.json()) as Readonly<Record<string, unknown>>
      if (temperature === REFUSED_TEMPERATURE) {
        const message = `Not with ${[...request.headers.values()].join(' ')}.`
        return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 })
      }
      return stream === true
        ? new Response(shape.events.join(''), { headers: { 'content-type': 'text/event-stream' } })
        : Response.json(shape.reply)
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    changeKey: () => (isKeyChanged = true),
    stop: () => void server.stop(true),
  }
}
