import { engineNames } from '../../domain/catalog/engines.ts'
import { inputKinds, modelKinds, type ModelKind } from '../../domain/catalog/model.ts'
import {
  costUnits,
  maxTokensFields,
  mediaKindRules,
  omittableFields,
  providerKinds,
  sendLinksWords,
  routesOf,
  type ProviderKind,
} from '../../domain/catalog/provider.ts'
import { imageTokenFields } from '../../domain/catalog/rows/image-pricing.ts'
import {
  messagesStreams,
  modelStreamUsages,
  presetNames,
  unsupportedInputs,
} from '../../domain/catalog/rows/chat-row.ts'
import { modelFieldsOf, modelId } from '../../domain/catalog/rows/model-row.ts'
import { serviceTierName, SERVICE_TIERS, tariffFields } from '../../domain/catalog/rows/pricing-row.ts'
import { fieldPath } from '../../domain/catalog/rows/refuse-fields.ts'
import { headerName } from '../../domain/catalog/rows/provider-headers.ts'
import { costFieldPath } from '../../domain/catalog/rows/provider-costs.ts'
import { providerFieldsOf } from '../../domain/catalog/rows/provider-fields.ts'
import { connectTimeoutS, providerId } from '../../domain/catalog/rows/provider-row.ts'
import { extraOutputTypes } from '../../domain/jobs/output-types.ts'
import { timeoutS } from '../../domain/catalog/rows/text-timeouts.ts'
import {
  about,
  always,
  closed,
  flag,
  listOf,
  mapOf,
  nullable,
  ref,
  text,
  words,
  type Members,
  type Schema,
} from './schema.ts'

const price: Schema = about('Dollars, from 0 to 1000000.', {
  type: 'string',
  pattern: '^\\d{1,18}(?:\\.\\d{1,9})?$',
})
const tokens: Schema = { type: 'integer', minimum: 1, maximum: 100_000_000 }
const timeout: Schema = { type: 'number', minimum: timeoutS.min, maximum: timeoutS.max }

const refuseFields = about('The allowed values of fields of requests, by path. With `[]`, none.', {
  type: 'object',
  propertyNames: { pattern: fieldPath.source, maxLength: 200 },
  additionalProperties: listOf({ type: ['string', 'number', 'boolean'] }, { maxItems: 64 }),
  maxProperties: 64,
})

const serviceTiers = about('The factor for the prices of tokens in each service tier.', {
  type: 'object',
  propertyNames: { pattern: serviceTierName.source },
  additionalProperties: about('Above 0, at most 1000.', { type: 'string' }),
  minProperties: 1,
  maxProperties: 16,
})

const tokenPrices = Object.fromEntries(Object.values(imageTokenFields).map(field => [field, price]))
const requiredTokenPrices = new Set<string>([
  imageTokenFields.textInput,
  imageTokenFields.imageInput,
  imageTokenFields.imageOutput,
])

/** Every field of a provider's row. The kind decides which of them a row can have. */
const providerField: Readonly<Record<string, Schema>> = {
  id: { type: 'string', pattern: providerId.pattern.source },
  base_url: about(
    'An http or https URL without credentials. The path of the route is appended, and a query stays.',
    {
      type: 'string',
    },
  ),
  api_key: about('`env:NAME`, or the key itself, which is shown as `<stored>`.', text),
  api_key_header: about('The header with the key. `authorization` has it as a bearer token.', {
    type: 'string',
    pattern: headerName.pattern.source,
  }),
  headers: about('Additional request headers. A value may be `env:NAME`.', mapOf(text)),
  betas: about('The values of `anthropic-beta` that may reach it.', listOf(text, { minItems: 1 })),
  max_tokens_field: words(maxTokensFields),
  omit_fields: listOf(words(omittableFields), { minItems: 1 }),
  refuse_fields: refuseFields,
  credit_usd: about('The price of one credit that it reports.', price),
  cost_header: about('The response header with its own cost.', {
    type: 'string',
    pattern: headerName.pattern.source,
  }),
  cost_field: about(
    'The path of its own cost in an answer. Default: `usage.cost`, as OpenRouter reports it.',
    {
      type: 'string',
      pattern: costFieldPath.pattern.source,
    },
  ),
  cost_unit: about('The unit of its own cost. A tick is 10^-10 dollars.', words(Object.keys(costUnits))),
  usage_style: about('`gemini` counts thinking only in the total.', words(['gemini'])),
  bills_refused: about('The refusals that it bills.', words(['content_filter'])),
  connect_timeout_s: { type: 'number', minimum: connectTimeoutS.min, maximum: connectTimeoutS.max },
  read_timeout_s: timeout,
  stream_idle_timeout_s: timeout,
  first_byte_timeout_s: timeout,
  retries: about('0 never sends a failed request again.', { type: 'integer', minimum: 0, maximum: 1 }),
  stream_usage: words(['ask']),
  finish_aborted: about(
    'Streams of clients that disconnect are read to their end and charged in full.',
    flag,
  ),
  pass_rate_limits: about('False if clients do not get its rate limit headers. Default: true.', flag),
  reuse_connections: flag,
  send_links: about(
    'Whether it may get the links of clients. Default: `never` if the base URL is in a private network.',
    words(sendLinksWords),
  ),
}

/** Every field of a model's row, beside `pricing`, whose shape depends on the kind. */
const modelField: Readonly<Record<string, Schema>> = {
  id: { type: 'string', pattern: modelId.pattern.source, maxLength: 128 },
  enabled: flag,
  display_name: { type: 'string', minLength: 1, maxLength: 200 },
  description: { type: 'string', maxLength: 4000 },
  owned_by: { type: 'string', minLength: 1, maxLength: 200 },
  markup: about('A factor above 0, at most 1000, for `upstream_cost`.', { type: 'string' }),
  max_output_tokens: tokens,
  context_window: tokens,
  read_timeout_s: timeout,
  stream_idle_timeout_s: timeout,
  first_byte_timeout_s: timeout,
  preset: about('A name for several fields. The fields of the row win.', words(presetNames)),
  inputs: about(
    'What the model reads. Other inputs are refused. Without it, all are passed on.',
    listOf(words(inputKinds), { minItems: 1, uniqueItems: true }),
  ),
  unsupported_inputs: about(
    '`note` replaces other inputs by a text where the request is converted.',
    words(unsupportedInputs),
  ),
  messages_stream: words(messagesStreams),
  stream_usage: about(
    '`ask` asks for the usage of every chat stream. Default: as the provider says.',
    words(modelStreamUsages),
  ),
  heartbeats: about('Chat streams without `include_usage` get comment lines during silences too.', flag),
  replays: flag,
  refuse_fields: refuseFields,
  params: mapOf(listOf(text, { minItems: 1 })),
  fixed_params: mapOf({ type: ['string', 'number', 'boolean'] }),
  engine: words(engineNames),
  hold_duration_seconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600 },
}

/**
 * Where a row is: in a reply, in a request whose path has the id, or in a whole catalog of a request. In requests, null
 * counts as absent.
 */
type Place = 'reply' | 'request' | 'catalog'

/** A row with these fields. Fields that are not required may be null in requests. */
function row(fields: Members, required: ReadonlySet<string>, place: Place): Schema {
  const optional = place === 'reply' ? (schema: Schema) => schema : nullable
  const members = Object.entries(fields)
  return closed(
    Object.fromEntries(members.filter(([field]) => required.has(field))),
    Object.fromEntries(
      members.filter(([field]) => !required.has(field)).map(([field, schema]) => [field, optional(schema)]),
    ),
  )
}

function picked(names: readonly string[], known: Members): Members {
  return Object.fromEntries(
    names.map(name => {
      const schema = known[name]
      if (schema === undefined) throw new TypeError(`The field ${name} has no description.`)
      return [name, schema]
    }),
  )
}

function providerRow(kind: ProviderKind, place: Place): Schema {
  const routes = listOf(words(routesOf(kind)), { minItems: 1 })
  const fields = picked(providerFieldsOf(kind), { ...providerField, kind: always(kind), routes })
  const hasUrl = kind !== 'sandbox' && (place === 'reply' || mediaKindRules(kind)?.baseUrl === undefined)
  const required = ['kind', ...(place === 'request' ? [] : ['id']), ...(hasUrl ? ['base_url'] : [])]
  return row(fields, new Set(required), place)
}

function modelRow(kind: ModelKind, place: Place): Schema {
  const tariff = ref(place === 'reply' ? 'Tariff' : 'NewTariff')
  const images = {
    anyOf: [
      closed({ per_image: price }),
      row(
        { ...tokenPrices, max_per_image: price },
        new Set([...requiredTokenPrices, 'max_per_image']),
        place,
      ),
    ],
  }
  const tariffs = { chat: tariff, embedding: tariff, image: images, video: closed({ per_second: price }) }
  const isText = kind === 'chat' || kind === 'embedding'
  const pricing = isText ? { anyOf: [words(['free', 'upstream_cost']), tariff] } : tariffs[kind]
  const upstreams = listOf(upstream(tariffs[kind], place), { minItems: 1, maxItems: 16 })
  const outputTypes =
    kind === 'image' || kind === 'video'
      ? { output_types: listOf(words(extraOutputTypes[kind]), { minItems: 1 }) }
      : {}
  const providerPrices =
    kind === 'image' ? { provider_prices: row(tokenPrices, requiredTokenPrices, place) } : {}
  const nested = {
    kind: always(kind),
    pricing,
    ceiling_pricing: tariff,
    upstreams,
    ...outputTypes,
    ...providerPrices,
  }
  const required = [
    'kind',
    'upstreams',
    ...(place === 'request' ? [] : ['id']),
    ...(place === 'reply' ? ['enabled'] : []),
    ...(kind === 'video' ? ['engine'] : []),
  ]
  return row(picked(modelFieldsOf[kind], { ...modelField, ...nested }), new Set(required), place)
}

function tariff(place: Place): Schema {
  const prices = Object.fromEntries(Object.values(tariffFields).map(field => [field, price]))
  const tier = row({ above_input_tokens: tokens, ...prices }, new Set(['above_input_tokens']), place)
  const tiers = listOf(tier, { minItems: 1, maxItems: 8 })
  return row({ ...prices, tiers, [SERVICE_TIERS]: serviceTiers }, new Set(), place)
}

/** `tariff` is the shape of its cost. */
function upstream(tariff: Schema, place: Place): Schema {
  const rank = { type: 'integer', minimum: 1, maximum: 1000 }
  const cost = about('What the provider bills you, for a cost that it does not report.', tariff)
  return row(
    { provider: text, model: text, order: rank, weight: rank, cost },
    new Set(['provider', 'model']),
    place,
  )
}

const providerRows = (place: Place): Schema => ({
  anyOf: providerKinds.map(kind => providerRow(kind, place)),
})
const modelRows = (place: Place): Schema => ({ anyOf: modelKinds.map(kind => modelRow(kind, place)) })

/** The rows of the catalog. */
export const rowSchemas: Members = {
  Tariff: tariff('reply'),
  NewTariff: tariff('request'),
  ProviderRow: providerRows('reply'),
  NewProviderRow: providerRows('request'),
  FileProviderRow: providerRows('catalog'),
  ModelRow: modelRows('reply'),
  NewModelRow: modelRows('request'),
  FileModelRow: modelRows('catalog'),
}
