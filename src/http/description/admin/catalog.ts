import { bodyOf, json, ok, type Operation, type Parameter, type Paths } from '../operation.ts'
import {
  about,
  always,
  anything,
  closed,
  count,
  flag,
  dateTime,
  listOf,
  nullable,
  object,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'
import { fieldChanges, rowChanges } from './catalog-history.ts'

const AT = '2026-11-21T05:50:09.183Z'
const provider = {
  id: 'main',
  kind: 'openai-compatible',
  base_url: 'https://api.example.com/v1',
  api_key: 'env:MAIN_API_KEY',
}
const model = {
  id: 'gpt-x',
  kind: 'chat',
  enabled: true,
  upstreams: [{ provider: 'main', model: 'gpt-x-2026-01-01' }],
  pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
  max_output_tokens: 16384,
}
const NO_KEY = 'It cannot be called: provider "main": the environment variable MAIN_API_KEY is not set.'
const catalog = { revision: 2, updated_at: AT, providers: [provider], models: [model] }
const rows = { providers: [provider], models: [model] }
const rowMembers = { providers: listOf(ref('ProviderRow')), models: listOf(ref('ModelRow')) }
/** Absent in a reply without price lists. A body without it keeps the stored ones. */
const listMembers = { price_lists: listOf(ref('PriceListRow')) }
const members = {
  revision: count,
  updated_at: dateTime,
  providers: listOf(ref('ProviderRow')),
  models: listOf(ref('ModelRow')),
}
const variables = {
  missing_variables: about('The environment variables of keys that the server does not have.', listOf(text)),
  warnings: about(
    'Sentences about keys that are probably wrong, and about models whose provider bills features that the row neither prices nor refuses.',
    listOf(text),
  ),
}

export const adminCatalogSchemas: Members = {
  Catalog: object(members, listMembers),
  ReplacedCatalog: object({ ...members, ...variables }, listMembers),
  CatalogFile: closed(rowMembers, listMembers),
  NewCatalogFile: closed(
    { providers: listOf(ref('FileProviderRow')), models: listOf(ref('FileModelRow')) },
    listMembers,
  ),
  NewCatalog: closed(
    { providers: listOf(ref('FileProviderRow')), models: listOf(ref('FileModelRow')) },
    {
      ...listMembers,
      revision: about('Ignored.', anything),
      updated_at: about('Ignored.', anything),
      missing_variables: about('Ignored.', anything),
      warnings: about('Ignored.', anything),
    },
  ),
  ProviderPreview: object({
    dry_run: always(true),
    revision: count,
    is_new: flag,
    fields: about('None for a new row. Secrets are not shown.', fieldChanges),
    loses_key: about('Whether the stored key is removed.', flag),
  }),
  ModelPreview: object({
    dry_run: always(true),
    revision: count,
    is_new: flag,
    fields: about('None for a new row.', fieldChanges),
    example: about(
      'What one request costs the customer. Null for a model without its price.',
      nullable(
        object({
          of: text,
          before_usd: about('Null if there was no price of this kind.', nullable(usd)),
          after_usd: about('Null if it follows the cost of the provider.', nullable(usd)),
          costs: about(
            'Of each upstream whose `cost` is known: what it bills, and the price after the change less this.',
            listOf(object({ provider: text, cost_usd: usd, margin_usd: nullable(usd) })),
          ),
        }),
      ),
    ),
  }),
  CatalogChanges: object({
    dry_run: always(true),
    revision: count,
    ...rowChanges,
    removals: listOf(text),
    ...variables,
  }),
  Rollback: closed({ revision: { type: 'integer', minimum: 1 } }),
  ModelSwitch: closed({ enabled: flag }),
  Deleted: object({ id: text, deleted: always(true) }),
}

const common = { tag: 'Admin: catalog', access: 'admin' } as const
const idOf = (name: 'provider' | 'model', example: string): Parameter => ({
  name,
  in: 'path',
  description:
    name === 'model' ? 'The id of the model. Slashes may be escaped or not.' : 'The id of the provider.',
  schema: text,
  example,
})
export const revisionParameter: Parameter = {
  name: 'revision',
  in: 'query',
  description: 'The revision that the change was made from. If the catalog has another one, it is refused.',
  schema: { type: 'integer', minimum: 0 },
  example: 7,
}
const switches: readonly Parameter[] = [
  {
    name: 'dry_run',
    in: 'query',
    description: 'True changes nothing, and replies with the changes.',
    schema: words(['true', 'false']),
    example: 'true',
  },
  {
    name: 'allow_removals',
    in: 'query',
    description: 'False refuses a change that would remove rows or stored keys.',
    schema: words(['true', 'false']),
    example: 'false',
  },
  revisionParameter,
]
const replaced: Operation['replies'] = {
  200: {
    description: 'The catalog, or the changes of a dry run.',
    content: json(
      { anyOf: [ref('ReplacedCatalog'), ref('CatalogChanges')] },
      {
        catalog: { ...catalog, missing_variables: ['MAIN_API_KEY'], warnings: [] },
        dry_run: {
          dry_run: true,
          revision: 2,
          changes: [
            {
              kind: 'model',
              id: 'gpt-x',
              change: 'changed',
              fields: [{ field: 'enabled', before: true, after: false }],
              loses_key: false,
            },
          ],
          is_reordered: false,
          removals: [],
          missing_variables: [],
          warnings: [],
        },
      },
    ),
  },
}

/** Reading and deleting a row, and what `extra` has. */
function rowPaths(kind: 'provider' | 'model', example: object, extra: Paths[string]): Paths[string] {
  const parameters = [idOf(kind, kind === 'provider' ? 'main' : 'gpt-x')]
  const [row, title] = kind === 'provider' ? ['ProviderRow', 'Provider'] : ['ModelRow', 'Model']
  return {
    get: {
      ...common,
      id: `readRowOf${title}`,
      summary: `A ${kind}`,
      parameters,
      replies: ok('The row.', ref(row), example),
      errors: ['not_found'],
    },
    delete: {
      ...common,
      id: `delete${title}`,
      summary: `Delete a ${kind}`,
      parameters,
      replies: ok('It is deleted.', ref('Deleted'), {
        id: kind === 'provider' ? 'main' : 'gpt-x',
        deleted: true,
      }),
      errors: ['not_found', 'invalid_field'],
    },
    ...extra,
  }
}

/** The catalog and its rows. */
export const adminCatalogPaths: Paths = {
  providers: {
    get: {
      ...common,
      id: 'listProviders',
      summary: 'All providers',
      replies: ok('The rows.', object({ data: listOf(ref('ProviderRow')), revision: count }), {
        data: [provider],
        revision: 2,
      }),
      errors: [],
    },
  },
  'providers/{provider}': rowPaths('provider', provider, {
    put: {
      ...common,
      id: 'putProvider',
      summary: 'Create or replace a provider',
      parameters: [
        idOf('provider', 'main'),
        {
          name: 'dry_run',
          in: 'query',
          description: 'True changes nothing, and replies with the changes.',
          schema: words(['true', 'false']),
          example: 'true',
        },
        revisionParameter,
      ],
      body: bodyOf('NewProviderRow', provider),
      replies: {
        200: {
          description: 'The row as stored, or the changes of a dry run.',
          content: json(
            { anyOf: [ref('ProviderRow'), ref('ProviderPreview')] },
            {
              row: provider,
              dry_run: {
                dry_run: true,
                revision: 2,
                is_new: false,
                fields: [{ field: 'api_key', before: '<stored>', after: 'env:MAIN_API_KEY' }],
                loses_key: true,
              },
            },
          ),
        },
      },
      errors: ['catalog_changed'],
    },
  }),
  models: {
    get: {
      ...common,
      id: 'listModelRows',
      summary: 'All models, including those that are off',
      replies: ok(
        'The rows, and the models that cannot be called.',
        object({
          data: listOf(ref('ModelRow')),
          uncallable: listOf(object({ id: text, reason: text })),
          revision: count,
        }),
        { data: [model], uncallable: [{ id: 'gpt-x', reason: NO_KEY }], revision: 2 },
      ),
      errors: [],
    },
  },
  'models/{model}': rowPaths('model', model, {
    put: {
      ...common,
      id: 'putModel',
      summary: 'Create or replace a model',
      parameters: [
        idOf('model', 'gpt-x'),
        {
          name: 'dry_run',
          in: 'query',
          description: 'True changes nothing, and replies with the changes and an example of a charge.',
          schema: words(['true', 'false']),
          example: 'true',
        },
        revisionParameter,
      ],
      body: bodyOf('NewModelRow', model),
      replies: {
        200: {
          description: 'The row as stored, or the changes of a dry run.',
          content: json(
            { anyOf: [ref('ModelRow'), ref('ModelPreview')] },
            {
              row: model,
              dry_run: {
                dry_run: true,
                revision: 2,
                is_new: false,
                fields: [{ field: 'pricing.input_per_mtok', before: '2.5', after: '2' }],
                example: {
                  of: '1,000 input tokens and 500 output tokens',
                  before_usd: '0.0075',
                  after_usd: '0.007',
                  costs: [{ provider: 'main', cost_usd: '0.005', margin_usd: '0.002' }],
                },
              },
            },
          ),
        },
      },
      errors: ['catalog_changed'],
    },
    patch: {
      ...common,
      id: 'switchModel',
      summary: 'Switch a model on or off',
      parameters: [idOf('model', 'gpt-x')],
      body: bodyOf('ModelSwitch', { enabled: false }),
      replies: ok('The row.', ref('ModelRow'), { ...model, enabled: false }),
      errors: ['not_found'],
    },
  }),
  catalog: {
    get: {
      ...common,
      id: 'readCatalog',
      summary: 'The whole catalog',
      parameters: [
        {
          name: 'format',
          in: 'query',
          description: '`yaml` for YAML, as with `Accept: application/yaml`.',
          schema: text,
          example: 'yaml',
        },
      ],
      replies: {
        200: {
          description: 'The catalog.',
          content: {
            ...json(ref('Catalog'), { catalog }),
            'application/yaml': { schema: ref('CatalogFile'), examples: { catalog: rows } },
          },
        },
      },
      errors: [],
    },
    put: {
      ...common,
      id: 'replaceCatalog',
      summary: 'Replace the whole catalog, or change nothing',
      parameters: switches,
      body: {
        isRequired: true,
        content: {
          ...json(ref('NewCatalog'), { catalog: { providers: [provider], models: [model] } }),
          'application/yaml': { schema: ref('NewCatalogFile'), examples: { catalog: rows } },
        },
      },
      replies: replaced,
      errors: ['removals_not_allowed', 'catalog_changed'],
    },
  },
  'catalog/rollback': {
    post: {
      ...common,
      id: 'rollBackCatalog',
      summary: 'Make the catalog of an earlier revision the current one',
      parameters: switches,
      body: bodyOf('Rollback', { revision: 1 }),
      replies: replaced,
      errors: ['not_found', 'removals_not_allowed', 'catalog_changed'],
    },
  },
}
