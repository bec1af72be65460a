import { inputKinds, modelKinds } from '../../domain/catalog/model.ts'
import { json, ok, type Operation, type Parameter, type Paths } from './operation.ts'
import {
  about,
  always,
  anything,
  count,
  flag,
  dateTime,
  listOf,
  mapOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
} from './schema.ts'

const textPricing = { anyOf: [words(['free', 'upstream_cost']), ref('Tariff')] }
const mediaPricing = {
  anyOf: [
    object({ per_image: usd }),
    object(
      {
        text_input_per_mtok: usd,
        image_input_per_mtok: usd,
        image_output_per_mtok: usd,
        max_per_image: usd,
      },
      { text_output_per_mtok: usd },
    ),
    object({ per_second: usd }),
  ],
}

export const catalogSchemas: Members = {
  Model: object({
    id: text,
    object: always('model'),
    created: count,
    owned_by: text,
    kind: words(modelKinds),
    display_name: text,
    type: always('model'),
    created_at: dateTime,
    context_window: nullable(count),
    max_input_tokens: about('The same as `context_window`, as Anthropic names it.', nullable(count)),
    max_output_tokens: nullable(count),
    max_tokens: about('The same as `max_output_tokens`, as Anthropic names it.', nullable(count)),
    inputs: about('What it reads; null if that is not known.', nullable(listOf(words(inputKinds)))),
    pricing: { anyOf: [...textPricing.anyOf, ...mediaPricing.anyOf] },
  }),
  TextPrices: object({
    id: text,
    kind: words(['chat', 'embedding']),
    display_name: text,
    description: text,
    context_window: nullable(count),
    max_output_tokens: nullable(count),
    pricing: textPricing,
  }),
  MediaPrices: object({
    id: text,
    kind: words(['image', 'video']),
    display_name: text,
    description: text,
    pricing: mediaPricing,
    params: mapOf(listOf(text)),
    fixed_params: mapOf(anything),
    hold_duration_seconds: nullable({ type: 'number' }),
  }),
}

const model = {
  id: 'sandbox-chat',
  object: 'model',
  created: 1795240209,
  owned_by: 'sandbox',
  kind: 'chat',
  display_name: 'Sandbox Chat',
  type: 'model',
  created_at: '2026-11-21T05:50:09.000Z',
  context_window: 128000,
  max_input_tokens: 128000,
  max_output_tokens: 4096,
  max_tokens: 4096,
  inputs: null,
  pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
}
const frame = { object: 'list', currency: 'USD', revision: 1, updated_at: '2026-11-21T05:50:09.000Z' }
const frameMembers = {
  object: always('list'),
  currency: always('USD'),
  revision: count,
  updated_at: dateTime,
}

const ifNoneMatch: Parameter = {
  name: 'if-none-match',
  in: 'header',
  description: 'The ETag of a known list. If nothing changed, the reply is 304.',
  schema: text,
}

function prices(
  row: string,
  example: object,
): Pick<Operation, 'replies' | 'parameters' | 'tag' | 'access' | 'errors'> {
  const headers = { etag: { description: 'The version of the list.', schema: text } }
  return {
    tag: 'Models',
    access: 'everyone',
    parameters: [ifNoneMatch],
    replies: {
      200: {
        description: 'The list.',
        headers,
        content: json(object({ ...frameMembers, data: listOf(ref(row)) }), {
          list: { ...frame, data: [example] },
        }),
      },
      304: { description: 'Nothing changed.', headers },
    },
    errors: [],
  }
}

/** The models of a key, and the public prices. */
export const catalogPaths: Paths = {
  '/v1/models': {
    get: {
      id: 'listModels',
      summary: 'The models that this key can call',
      tag: 'Models',
      access: 'customer',
      replies: ok(
        'The models.',
        object({
          object: always('list'),
          data: listOf(ref('Model')),
          has_more: flag,
          first_id: nullable(text),
          last_id: nullable(text),
        }),
        { object: 'list', data: [model], has_more: false, first_id: 'sandbox-chat', last_id: 'sandbox-chat' },
      ),
      errors: [],
    },
  },
  '/v1/models/{model}': {
    get: {
      id: 'readModel',
      summary: 'One model',
      tag: 'Models',
      access: 'customer',
      parameters: [
        {
          name: 'model',
          in: 'path',
          description: 'Its name. Slashes may be escaped or not.',
          schema: text,
          example: 'sandbox-chat',
        },
      ],
      replies: ok('The model.', ref('Model'), model),
      errors: ['model_not_found'],
    },
  },
  '/cabinet/api/public/models': {
    get: {
      ...prices('TextPrices', {
        id: 'sandbox-chat',
        kind: 'chat',
        display_name: 'Sandbox Chat',
        description: 'A sandbox, not a real model.',
        context_window: 128000,
        max_output_tokens: 4096,
        pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
      }),
      id: 'listTextPrices',
      summary: 'The prices of the text models',
    },
  },
  '/cabinet/api/public/media-models': {
    get: {
      ...prices('MediaPrices', {
        id: 'sandbox-image',
        kind: 'image',
        display_name: 'Sandbox Image',
        description: 'A sandbox, not a real model.',
        pricing: { per_image: '0.04' },
        params: { resolution: ['1K', '2K'] },
        fixed_params: {},
        hold_duration_seconds: null,
      }),
      id: 'listMediaPrices',
      summary: 'The prices of the image and video models',
    },
  },
}
