/**
 * Services that many gateways buy from, with what their rows need beside the key, as in docs/catalog.md. Prices are not
 * here: they change too often.
 */
import type { Row } from '../../parts/row-form.tsx'

export type Known = {
  readonly id: string
  readonly name: string
  /** The row without its key. */
  readonly row: Row
  /** The variable of its key in most other programs. */
  readonly variable?: string
  readonly sells: 'text' | 'media'
}

const openai = 'openai-compatible'
const text = ['chat', 'embeddings']

export const known: readonly Known[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    sells: 'text',
    variable: 'OPENAI_API_KEY',
    row: {
      kind: openai,
      base_url: 'https://api.openai.com/v1',
      max_tokens_field: 'max_completion_tokens',
      stream_usage: 'ask',
      // Billed beside the tokens.
      refuse_fields: {
        service_tier: ['default'],
        web_search_options: [],
        'tools[].type': ['function', 'custom'],
        'input[].tools[].type': ['function', 'custom'],
      },
    },
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    sells: 'text',
    variable: 'ANTHROPIC_API_KEY',
    row: { kind: 'anthropic', base_url: 'https://api.anthropic.com/v1' },
  },
  {
    id: 'gemini',
    name: 'Gemini',
    sells: 'text',
    variable: 'GEMINI_API_KEY',
    row: {
      kind: openai,
      base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
      api_key_header: 'x-goog-api-key',
      routes: text,
      stream_usage: 'ask',
      usage_style: 'gemini',
      refuse_fields: { 'extra_body.google.tools': [] },
    },
  },
  {
    id: 'mistral',
    name: 'Mistral',
    sells: 'text',
    variable: 'MISTRAL_API_KEY',
    row: { kind: openai, base_url: 'https://api.mistral.ai/v1', routes: text, omit_fields: ['metadata'] },
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    sells: 'text',
    variable: 'DEEPSEEK_API_KEY',
    row: { kind: openai, base_url: 'https://api.deepseek.com/v1', routes: ['chat'], stream_usage: 'ask' },
  },
  {
    id: 'groq',
    name: 'Groq',
    sells: 'text',
    variable: 'GROQ_API_KEY',
    row: {
      kind: openai,
      base_url: 'https://api.groq.com/openai/v1',
      routes: ['chat', 'responses'],
      stream_usage: 'ask',
    },
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    sells: 'text',
    variable: 'OPENROUTER_API_KEY',
    row: {
      kind: openai,
      base_url: 'https://openrouter.ai/api/v1',
      routes: ['chat'],
      stream_usage: 'ask',
      refuse_fields: { models: [], plugins: [] },
    },
  },
  {
    id: 'ollama',
    name: 'Ollama or vLLM on your own machine',
    sells: 'text',
    row: { kind: openai, base_url: 'http://127.0.0.1:11434/v1', routes: text, stream_usage: 'ask' },
  },
  {
    id: 'compatible',
    name: 'Another server with the API of OpenAI',
    sells: 'text',
    row: { kind: openai, base_url: '', routes: text, stream_usage: 'ask' },
  },
  ...media('pictures', 'OpenAI images', 'openai-images', 'OPENAI_API_KEY', 'https://api.openai.com/v1'),
  ...media('gemini-images', 'Gemini images', 'gemini-images', 'GEMINI_API_KEY'),
  ...media('fal', 'fal', 'fal', 'FAL_KEY'),
  ...media('replicate', 'Replicate', 'replicate', 'REPLICATE_API_TOKEN'),
  ...media('runway', 'Runway', 'runway', 'RUNWAYML_API_SECRET'),
  ...media('veo', 'Veo', 'veo', 'GEMINI_API_KEY'),
  ...media('minimax', 'MiniMax', 'minimax', 'MINIMAX_API_KEY'),
  ...media('seedance', 'Seedance', 'seedance', 'ARK_API_KEY'),
  ...media('geminigen', 'GeminiGen.AI', 'geminigen', 'GEMINIGEN_API_KEY'),
]

/** Without a `baseUrl`, the gateway knows the address of the kind. */
function media(id: string, name: string, kind: string, variable: string, baseUrl?: string): readonly Known[] {
  return [
    {
      id,
      name,
      sells: 'media',
      variable,
      row: { kind, ...(baseUrl !== undefined && { base_url: baseUrl }) },
    },
  ]
}
