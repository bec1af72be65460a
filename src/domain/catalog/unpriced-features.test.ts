import { describe, expect, test } from 'bun:test'
import { aCatalogOf, aDestination } from '../../../test/support/upstream-rows.ts'
import { usd } from '../money.ts'
import type { TextPricing, TextTariff } from '../pricing/tariff.ts'
import { stepsOf, type FieldRule, type FieldRules } from './field-rule.ts'
import { unpricedFeatures } from './unpriced-features.ts'

const TARIFF: TextTariff = { input: usd('1'), output: usd('2') }

/** The warnings about one model at a provider with this URL. */
function warningsOf(
  baseUrl: string,
  options: {
    readonly tariff?: Partial<TextTariff>
    readonly pricing?: TextPricing
    readonly ofModel?: FieldRules
    readonly ofProvider?: FieldRules
    readonly routes?: readonly ('chat' | 'responses')[]
    readonly enabled?: boolean
  } = {},
): readonly string[] {
  const { routes = ['chat', 'responses'], enabled = true, ofModel = {}, ofProvider = {} } = options
  const pricing: TextPricing = options.pricing ?? { kind: 'tariff', tariff: { ...TARIFF, ...options.tariff } }
  const base = aDestination('main')
  const catalog = aCatalogOf([{ ...base, provider: { ...base.provider, baseUrl, routes, ...ofProvider } }])
  const [model] = catalog.models.values()
  if (model?.kind !== 'chat') throw new Error('The model of the catalog is not a chat model.')
  const changed = { ...model, pricing, enabled, ...ofModel }
  return unpricedFeatures({ ...catalog, models: new Map([[changed.id, changed]]) })
}

const rules = (fields: Readonly<Record<string, FieldRule['allowed']>>): FieldRules => ({
  refuseFields: Object.entries(fields).map(([path, allowed]) => ({ path, steps: stepsOf(path), allowed })),
})

const OPENAI = 'https://api.openai.com/v1'
const REFUSED = {
  service_tier: ['default'],
  web_search_options: [],
  'tools[].type': ['function'],
  'input[].tools[].type': ['function'],
}

test('a model whose provider bills more than its row prices gets one warning with the remedy', () => {
  expect(warningsOf(OPENAI)).toEqual([
    'Model "gpt-x": provider "main" bills service_tier, web_search_options, tools[].type, input[].tools[].type beside ' +
      'the tokens, and the row neither prices nor refuses it. Price it, or write refuse_fields: ' +
      '{"service_tier": ["default"], "web_search_options": [], "tools[].type": ["function"], ' +
      '"input[].tools[].type": ["function"]} in the row of the model or the provider.',
  ])
})

describe('no warning is given', () => {
  test.each<[string, string, Parameters<typeof warningsOf>[1]]>([
    ['if the model refuses the fields', OPENAI, { ofModel: rules(REFUSED) }],
    ['if the provider refuses the fields', OPENAI, { ofProvider: rules(REFUSED) }],
    [
      'if the model refuses what is around the fields',
      OPENAI,
      { ofModel: rules({ service_tier: [], web_search_options: [], tools: [], 'input[].tools': [] }) },
    ],
    ['about a disabled model', OPENAI, { enabled: false }],
    ['about a free model', OPENAI, { pricing: { kind: 'free' } }],
    [
      'about a model at the provider’s own cost',
      OPENAI,
      { pricing: { kind: 'upstream_cost', markupBillionths: 1_000_000_000n, ceiling: TARIFF } },
    ],
    ['about an unknown provider', 'https://api.example.com/v1', {}],
    ['about a host that only ends alike', 'https://fakeopenrouter.ai/v1', {}],
  ])('no warning is given %s', (_, baseUrl, options) => {
    expect(warningsOf(baseUrl, options)).toEqual([])
  })
})

test.each<[string, Parameters<typeof warningsOf>[1], string]>([
  [
    'with the price of a tier, the tier is allowed',
    { tariff: { serviceTiers: { priority: 2_000_000_000n } } },
    'web_search_options, tools[].type, input[].tools[].type',
  ],
  [
    'with a rule that allows a dearer tier, the tier is billed',
    { ofModel: rules({ ...REFUSED, service_tier: ['default', 'priority'] }) },
    'service_tier',
  ],
  [
    'with a price of searches, other tools are still billed',
    {
      tariff: { perSearchCall: usd('0.01') },
      ofModel: rules({ ...REFUSED, 'tools[].type': ['web_search', 'file_search'] }),
    },
    'tools[].type',
  ],
  [
    'without the responses route, its tools cannot be used',
    { routes: ['chat'] },
    'service_tier, web_search_options',
  ],
])('%s', (_, options, fields) => {
  expect(warningsOf(OPENAI, options)[0]).toContain(`bills ${fields} beside`)
})

test('prices and a rule together cover the tools', () => {
  const tools = ['function', 'web_search', 'file_search']
  const ofModel = rules({ ...REFUSED, 'tools[].type': tools, 'input[].tools[].type': tools })

  expect(
    warningsOf(OPENAI, { tariff: { perSearchCall: usd('0.01'), perFileSearch: usd('0.0025') }, ofModel }),
  ).toEqual([])
})

test.each([
  ['https://my-resource.openai.azure.com/openai', 'service_tier'],
  ['https://openrouter.ai/api/v1', 'plugins'],
  ['https://api.x.ai/v1', 'search_parameters'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'extra_body.google.tools'],
  ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'enable_search'],
  ['https://api.perplexity.ai', 'web_search_options'],
])('what %s bills is known', (baseUrl, field) => {
  expect(warningsOf(baseUrl)[0]).toContain(field)
})
