import type { TextTariff } from '../pricing/tariff.ts'
import type { Catalog } from './catalog.ts'
import { rulesOf, type FieldRule, type Scalar } from './field-rule.ts'
import type { TextModel } from './model.ts'
import type { Provider, TextRoute } from './provider.ts'

/** A field of requests that a provider is known to bill beside the tokens. */
type BilledField = {
  readonly path: string
  readonly routes: readonly TextRoute[]
  /** Values without a price of their own. The first one is what a row should allow. */
  readonly free: readonly Scalar[]
  /** The other values that these prices cover, or `all`. Absent if no price of a row covers any. */
  readonly pricedBy?: (tariff: TextTariff) => readonly Scalar[] | 'all'
}

const openAiRoutes = ['chat', 'responses'] as const
const web = ['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11']

/** Other names of the tiers have their price: `fast` is served and reported as `priority`. */
const serviceTier: BilledField = {
  path: 'service_tier',
  routes: openAiRoutes,
  free: ['default', 'auto', 'flex', 'standard'],
  pricedBy: ({ serviceTiers = {} }) => ('priority' in serviceTiers ? 'all' : Object.keys(serviceTiers)),
}
const tools: BilledField = {
  path: 'tools[].type',
  routes: ['responses'],
  free: ['function', 'custom', 'namespace', 'mcp', 'tool_search', 'apply_patch', 'computer', 'local_shell'],
  pricedBy: ({ perSearchCall, perFileSearch }) => [
    ...(perSearchCall === undefined ? [] : web),
    ...(perFileSearch === undefined ? [] : ['file_search']),
  ],
}
const searchOptions: BilledField = { path: 'web_search_options', routes: ['chat'], free: [] }

/**
 * What providers bill beside tokens, by the end of the host of their `base_url`. Providers of kind `anthropic` are
 * absent: the gateway itself refuses what their rows cannot price. docs/providers.md has the sources.
 */
const billedFields: Readonly<Record<string, readonly BilledField[]>> = {
  'api.openai.com': [serviceTier, searchOptions, tools, { ...tools, path: 'input[].tools[].type' }],
  'openai.azure.com': [serviceTier, tools, { ...tools, path: 'input[].tools[].type' }],
  'openrouter.ai': [
    serviceTier,
    searchOptions,
    { path: 'models', routes: openAiRoutes, free: [] },
    { path: 'plugins', routes: openAiRoutes, free: [] },
    { ...tools, routes: openAiRoutes },
  ],
  'api.x.ai': [
    { path: 'search_parameters', routes: ['chat'], free: [] },
    { ...tools, routes: openAiRoutes },
  ],
  'generativelanguage.googleapis.com': [{ path: 'extra_body.google.tools', routes: ['chat'], free: [] }],
  'aliyuncs.com': [{ path: 'enable_search', routes: ['chat'], free: [false] }, tools],
  'api.perplexity.ai': [searchOptions],
}

/** More would hide the first ones. */
const WARNINGS_MAX = 50

/**
 * One sentence for each model and provider with fields that the provider bills beside the tokens, and that the row
 * neither prices nor refuses. Only tariffs can be too low: a free row gives everything away, and the provider's own
 * cost includes everything.
 */
export function unpricedFeatures(catalog: Catalog): readonly string[] {
  const warnings: string[] = []
  for (const model of catalog.models.values()) {
    if ((model.kind !== 'chat' && model.kind !== 'embedding') || !model.enabled) continue
    for (const id of new Set(model.upstreams.map(({ provider }) => provider))) {
      const provider = catalog.providers.get(id)
      const fields = provider === undefined ? [] : unpricedFieldsOf(model, provider)
      if (fields.length === 0) continue
      const names = fields.map(({ path }) => path).join(', ')
      const rules = fields
        .map(({ path, free }) => `"${path}": ${JSON.stringify(free.slice(0, 1))}`)
        .join(', ')
      warnings.push(
        `Model "${model.id}": provider "${id}" bills ${names} beside the tokens, and the row neither prices nor refuses it. ` +
          `Price it, or write refuse_fields: {${rules}} in the row of the model or the provider.`,
      )
    }
  }
  const others = warnings.length - WARNINGS_MAX
  return others <= 0
    ? warnings
    : [...warnings.slice(0, WARNINGS_MAX), `There are ${others} more such models.`]
}

function unpricedFieldsOf(model: TextModel, provider: Provider): readonly BilledField[] {
  const { pricing } = model
  if (pricing.kind !== 'tariff' || provider.baseUrl === undefined) return []
  const host = new URL(provider.baseUrl).hostname
  const known =
    Object.entries(billedFields).find(([end]) => host === end || host.endsWith(`.${end}`))?.[1] ?? []
  const serves = (route: TextRoute) =>
    provider.routes.includes(route) && (route === 'embeddings') === (model.kind === 'embedding')
  const rules = rulesOf(model, provider)
  return known.filter(field => field.routes.some(serves) && !isCovered(field, rules, pricing.tariff))
}

/** Whether the prices or a rule of the row cover every value of a field that the provider bills. */
function isCovered(
  { path, free, pricedBy }: BilledField,
  rules: readonly FieldRule[],
  tariff: TextTariff,
): boolean {
  const priced = pricedBy?.(tariff) ?? []
  if (priced === 'all') return true
  return rules.some(rule => {
    // A rule for an object or a list around the field allows none.
    if (path.startsWith(`${rule.path}.`) || path.startsWith(`${rule.path}[`)) return true
    return rule.path === path && rule.allowed.every(value => free.includes(value) || priced.includes(value))
  })
}
