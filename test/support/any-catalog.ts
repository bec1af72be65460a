import fc from 'fast-check'
import type { Catalog } from '../../src/domain/catalog/catalog.ts'
import { allowsDuration, engineNames, engines, secondsMax } from '../../src/domain/catalog/engines.ts'
import { isFinished, type Model, type ModelDraft, type ModelKind } from '../../src/domain/catalog/model.ts'
import type { ListPrice, PriceList } from '../../src/domain/catalog/price-list.ts'
import { stepsOf, type FieldRule } from '../../src/domain/catalog/field-rule.ts'
import { mediaKinds } from '../../src/domain/catalog/media-kinds.ts'
import {
  mediaKindRules,
  openAiRoutes,
  sendLinksWords,
  type MediaKind,
  type Provider,
  type ProviderKind,
} from '../../src/domain/catalog/provider.ts'
import { extraOutputTypes } from '../../src/domain/jobs/output-types.ts'
import { nanoUsd, ZERO } from '../../src/domain/money.ts'
import type { ServiceTiers } from '../../src/domain/pricing/service-tiers.ts'
import type { ImageTokenPrices } from '../../src/domain/pricing/image-tokens.ts'
import type { ImageTariff, TextPricing, TextTariff } from '../../src/domain/pricing/tariff.ts'
import type { Usage } from '../../src/domain/pricing/usage.ts'

const requiredOfProvider = [
  'id',
  'kind',
  'baseUrl',
  'secret',
  'headers',
  'routes',
  'maxTokensField',
  'connectTimeoutMs',
  'reusesConnections',
] as const

/** Any valid catalog, including drafts and unusual texts. */
export const anyCatalog: fc.Arbitrary<Catalog> = fc
  .uniqueArray(anyProvider(), { selector: ({ id }) => id, maxLength: 4 })
  .chain(providers =>
    fc.record({
      providers: fc.constant(providers),
      rows:
        providers.length === 0
          ? fc.constant<(Model | ModelDraft)[]>([])
          : fc.uniqueArray(anyModel(providers.map(({ id }) => id)), {
              selector: ({ id }) => id,
              maxLength: 6,
            }),
    }),
  )
  .chain(({ providers, rows }) =>
    fc.record({
      providers: fc.constant(providers),
      rows: fc.constant(rows),
      priceLists: fc.uniqueArray(anyPriceList(rows), { selector: ({ id }) => id, maxLength: 3 }),
    }),
  )
  .map(({ providers, rows, priceLists }) => {
    const models = rows.filter((row): row is Model => isFinished(row))
    const drafts = rows.filter((row): row is ModelDraft => !isFinished(row))
    return {
      revision: 1,
      updatedAtMs: 1,
      providers: new Map(providers.map(provider => [provider.id, provider])),
      models: new Map(models.map(model => [model.id, model])),
      drafts: new Map(drafts.map(draft => [draft.id, draft])),
      priceLists: new Map(priceLists.map(list => [list.id, list])),
    }
  })

/** A factor, prices for some of these models, or both. */
export function anyPriceList(
  models: readonly Pick<Model | ModelDraft, 'id' | 'kind'>[],
): fc.Arbitrary<PriceList> {
  const factor = fc.bigInt(1n, 10_000_000_000n)
  return fc.subarray([...models]).chain(named =>
    fc
      .record({
        id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,7}$/).filter(id => id !== 'none'),
        factor: named.length === 0 ? factor : fc.option(factor, { nil: undefined }),
        prices: fc.tuple(
          ...named.map(({ id, kind }) => anyListPrice(kind).map(price => [id, price] as const)),
        ),
      })
      .map(({ id, factor: all, prices }) => {
        const list = { id, prices: new Map(prices) }
        return all === undefined ? list : Object.assign(list, { factor: all })
      }),
  )
}

function anyListPrice(kind: ModelKind): fc.Arbitrary<ListPrice> {
  const price = anyPrice()
  const free = fc.constant<ListPrice>({ kind: 'free' })
  const tokens = anyTieredTariff(price, price).map((tariff): ListPrice => ({ kind: 'chat', tariff }))
  switch (kind) {
    case 'chat':
      return fc.oneof(free, tokens)
    case 'embedding':
      return fc.oneof(
        free,
        anyTieredTariff(price, fc.constant(ZERO)).map((tariff): ListPrice => ({ kind: 'embedding', tariff })),
      )
    case 'image':
      return anyImageTariff().map((tariff): ListPrice => ({ kind: 'image', tariff }))
    case 'video':
      return price.map((perSecond): ListPrice => ({ kind: 'video', tariff: { perSecond } }))
  }
}

function anyProvider(): fc.Arbitrary<Provider> {
  const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,7}$/)
  const routes = fc.subarray([...openAiRoutes], { minLength: 1 })
  const sandbox = fc.record({
    id,
    kind: fc.constant('sandbox' as const),
    secret: fc.constant({ from: 'none' as const }),
    headers: fc.constant({}),
    routes,
    maxTokensField: fc.constant('max_tokens' as const),
    connectTimeoutMs: fc.constant(5000),
    reusesConnections: fc.constant(true),
  })
  const environment = fc.record({
    from: fc.constant('environment' as const),
    variable: fc.constantFrom('KEY', '_k9', 'NO'),
  })
  const remote = {
    id,
    baseUrl: fc.constantFrom('https://api.example.com/v1', 'http://127.0.0.1:8080', 'http://[::1]:1/a'),
    headers: fc.dictionary(
      fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{0,8}$/),
      fc.oneof(
        // Without shell variables, which are refused.
        fc.stringMatching(/^[ -~]{0,12}$/).filter(value => !/^(?:env:|[${%])|,\$\{/.test(value)),
        fc.constant('env:TEAM'),
      ),
      { noNullPrototype: true },
    ),
    connectTimeoutMs: fc.integer({ min: 100, max: 60_000 }),
    reusesConnections: fc.boolean(),
  }
  const secret = fc.oneof(
    fc.constant({ from: 'none' as const }),
    environment,
    fc.record({ from: fc.constant('literal' as const), value: fc.stringMatching(/^[!-~]{1,40}$/) }),
  )
  /** The query and the header of the key of text providers. */
  const text = {
    baseUrl: fc.oneof(remote.baseUrl, fc.constant('https://api.example.com/v1?api-version=2024-10-21')),
    apiKeyHeader: fc.constantFrom('api-key', 'x-goog-api-key'),
  }
  const rows = fc.record(
    {
      ...remote,
      ...text,
      kind: fc.constant('openai-compatible' as const),
      secret,
      routes,
      maxTokensField: fc.constantFrom('max_tokens' as const, 'max_completion_tokens' as const),
      omitFields: fc.constantFrom(['metadata' as const], ['stop' as const, 'top_p' as const]),
      costHeader: fc.constantFrom('x-cost', 'no', 'null'),
      costField: fc.constantFrom('usage.estimated_cost', 'usage.cost.total_cost', 'usage.null'),
      usageStyle: fc.constant('gemini' as const),
      billsRefused: fc.constant('content_filter' as const),
      refuseFields: anyRefuseFields(),
      streamUsage: fc.constant('ask' as const),
      finishAborted: fc.constant(true as const),
      passRateLimits: fc.constant(false as const),
      retries: fc.constant(0 as const),
      firstByteTimeoutMs: anyTimeoutMs(),
      readTimeoutMs: anyTimeoutMs(),
      streamIdleTimeoutMs: anyTimeoutMs(),
    },
    { requiredKeys: [...requiredOfProvider] },
  )
  const unit = fc.constantFrom('cents' as const, 'ticks' as const)
  // A unit without a cost is refused.
  const withUnit = fc
    .tuple(rows, fc.constantFrom('usage.estimated_cost', 'usage.cost.total_cost'), unit)
    .map(([row, costField, costUnit]) => Object.assign(row, { costField, costUnit }))
  const compatible = fc.oneof(rows, withUnit)
  const anthropic = fc.record(
    {
      ...remote,
      kind: fc.constant('anthropic' as const),
      secret,
      routes: fc.constant(['messages' as const]),
      maxTokensField: fc.constant('max_tokens' as const),
      betas: fc.constantFrom(['files-api-2025-04-14'], ['null', '1']),
      finishAborted: fc.constant(true as const),
      passRateLimits: fc.constant(false as const),
      refuseFields: anyRefuseFields(),
    },
    { requiredKeys: [...requiredOfProvider] },
  )
  const media = { ...remote, routes: fc.constant([]), maxTokensField: fc.constant('max_tokens' as const) }
  const withPair = (kind: ProviderKind) => mediaKindRules(kind)?.hasKeyPair === true
  const kinds = Object.keys(mediaKinds) as MediaKind[]
  const oneKey = fc.record(
    {
      ...media,
      kind: fc.constantFrom(...kinds.filter(kind => !withPair(kind))),
      secret,
      sendLinks: fc.constantFrom(...sendLinksWords),
    },
    { requiredKeys: [...requiredOfProvider] },
  )
  const withCredits = fc.record({
    ...media,
    kind: fc.constantFrom(...kinds.filter(kind => mediaKindRules(kind)?.reportsCredits === true)),
    secret: fc.constant({ from: 'none' as const }),
    creditUsd: anyPrice(),
  })
  const twoKeys = fc.record({
    ...media,
    kind: fc.constantFrom(...kinds.filter(withPair)),
    secret: fc.oneof(
      fc.constant({ from: 'none' as const }),
      environment,
      fc.constant({ from: 'environment_pair' as const, variables: ['ACCESS', '_s2'] as const }),
      fc.record({
        from: fc.constant('literal' as const),
        value: fc.stringMatching(/^[a-z]{1,9},[!-+./-9]{1,9}$/),
      }),
    ),
  })
  return fc.oneof(sandbox, compatible, anthropic, oneKey, withCredits, twoKeys)
}

export function anyModel(providers: string[]): fc.Arbitrary<Model | ModelDraft> {
  const common = {
    id: fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,6}(?:\/[A-Za-z0-9._:@+-]{1,4}){0,2}$/),
      fc.constantFrom('null', 'true', 'no', '1', '1e3', '0x1f', '2026-01-01', '12:30'),
    ),
    enabled: fc.boolean(),
    displayName: anyText(1, 30),
    description: fc.oneof(
      anyText(0, 60),
      fc.constantFrom('two\nlines', ' edge \n\n', '\ttab', '# no comment'),
    ),
    ownedBy: anyText(1, 10),
    createdAtMs: fc.constant(1),
  }
  const tokens = fc.integer({ min: 1, max: 100_000_000 })
  const imageTariff = anyImageTariff()
  const videoTariff = fc.record({ perSecond: anyPrice() })
  const chat = fc.record(
    {
      ...common,
      upstreams: anyUpstreams(providers, anyTieredTariff(anyPrice(), anyPrice())),
      kind: fc.constant('chat'),
      pricing: anyPricing(anyPrice()),
      maxOutputTokens: tokens,
      contextWindow: tokens,
      firstByteTimeoutMs: anyTimeoutMs(),
      readTimeoutMs: anyTimeoutMs(),
      streamIdleTimeoutMs: anyTimeoutMs(),
      messagesStream: fc.constant('live' as const),
      streamUsage: fc.constantFrom('ask' as const, 'client' as const),
      heartbeats: fc.constant(true as const),
      replays: fc.constant(false as const),
      refuseFields: anyRefuseFields(),
    },
    { requiredKeys: [...required, 'kind'] },
  )
  /** A preset has all of its fields. They may differ from it, except that a stream always has a limit. */
  const withPreset = fc
    .tuple(chat, anyTimeoutMs(), fc.constantFrom('ask' as const, 'client' as const))
    .map(([row, streamIdleTimeoutMs, streamUsage]) =>
      Object.assign(row, { preset: 'coding-agent' as const, streamIdleTimeoutMs, streamUsage }),
    )
  const withInputs = fc
    .tuple(chat, fc.subarray(['image', 'file', 'audio'] as const), fc.boolean())
    .map(([row, others, isNoted]) =>
      Object.assign(
        row,
        { inputs: ['text', ...others] },
        isNoted ? { unsupportedInputs: 'note' as const } : {},
      ),
    )
  const embedding = fc.record(
    {
      ...common,
      upstreams: anyUpstreams(providers, anyTieredTariff(anyPrice(), fc.constant(ZERO))),
      kind: fc.constant('embedding'),
      pricing: anyPricing(fc.constant(ZERO)),
      contextWindow: tokens,
      readTimeoutMs: anyTimeoutMs(),
      refuseFields: anyRefuseFields(),
    },
    { requiredKeys: [...required, 'kind'] },
  )
  const image = fc.record(
    {
      ...common,
      upstreams: anyUpstreams(providers, imageTariff),
      kind: fc.constant('image'),
      pricing: imageTariff,
      providerPrices: anyTokenPrices(),
      params: anyParams(),
      fixedParams: anyFixedParams(),
      outputTypes: fc.subarray([...extraOutputTypes.image], { minLength: 1 }),
    },
    { requiredKeys: [...required, 'kind', 'params', 'fixedParams'] },
  )
  const video = fc
    .record(
      {
        ...common,
        upstreams: anyUpstreams(providers, videoTariff),
        kind: fc.constant('video'),
        pricing: videoTariff,
        params: anyParams(),
        outputTypes: fc.subarray([...extraOutputTypes.video], { minLength: 1 }),
        video: anyVideo(),
      },
      { requiredKeys: [...required, 'kind', 'params', 'video'] },
    )
    .map(({ video, ...row }) => Object.assign(row, video))
  return fc.oneof(chat, withPreset, withInputs, embedding, image, video).map(row => {
    const model = row as Model | ModelDraft
    return isFinished(model) ? model : Object.assign(model, { enabled: false })
  })
}

/** With a cost of the kind's own shape, or without. */
function anyUpstreams(providers: readonly string[], cost: fc.Arbitrary<object>) {
  const upstream = fc.record(
    {
      provider: fc.constantFrom(...providers),
      model: fc.oneof(fc.stringMatching(/^[!-~]{1,20}$/), fc.constantFrom('1', 'null', '~', 'a: b', '- a')),
      order: fc.integer({ min: 1, max: 1000 }),
      weight: fc.integer({ min: 1, max: 1000 }),
      cost,
    },
    { requiredKeys: ['provider', 'model', 'order', 'weight'] },
  )
  return fc.uniqueArray(upstream, {
    selector: ({ provider, model }) => `${provider} ${model}`,
    minLength: 1,
    maxLength: 3,
  })
}

const required = [
  'id',
  'enabled',
  'displayName',
  'description',
  'ownedBy',
  'upstreams',
  'createdAtMs',
] as const

function anyPricing(output: fc.Arbitrary<bigint>): fc.Arbitrary<TextPricing> {
  const price = anyPrice()
  const tariff = anyTieredTariff(price, output)
  return fc.oneof(
    fc.constant({ kind: 'free' as const }),
    tariff.map(tariff => ({ kind: 'tariff' as const, tariff })),
    fc.record({
      kind: fc.constant('upstream_cost' as const),
      markupBillionths: fc.bigInt({ min: 1n, max: 1_000_000_000_000n }),
      ceiling: tariff,
    }),
  )
}

function anyRefuseFields(): fc.Arbitrary<readonly FieldRule[]> {
  const path = fc.constantFrom(
    'service_tier',
    'tools[].type',
    'extra_body.google.tools',
    'null',
    'a-b[].$c[]',
  )
  const value = fc.oneof(anyText(1, 8), fc.boolean(), fc.integer({ min: -9, max: 9 }))
  const rule = fc.record({ path, allowed: fc.array(value, { maxLength: 3 }) })
  return fc
    .uniqueArray(rule, { selector: ({ path }) => path, minLength: 1, maxLength: 3 })
    .map(rules => rules.map(({ path, allowed }) => ({ path, steps: stepsOf(path), allowed })))
}

function anyTimeoutMs() {
  return fc.integer({ min: 100, max: 3_600_000 })
}

function anyPrice() {
  return fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n }).map(nanoUsd)
}

function anyTokenPrices(): fc.Arbitrary<ImageTokenPrices> {
  const price = anyPrice()
  return fc.record(
    { textInput: price, imageInput: price, textOutput: price, imageOutput: price },
    { requiredKeys: ['textInput', 'imageInput', 'imageOutput'] },
  )
}

function anyImageTariff(): fc.Arbitrary<ImageTariff> {
  return fc.oneof(
    fc.record({ perImage: anyPrice() }),
    anyTokenPrices().chain(prices =>
      anyPrice().map(maxPerImage => Object.assign({}, prices, { maxPerImage })),
    ),
  )
}

function anyParams() {
  const value = fc.oneof(anyText(1, 8), fc.constantFrom('1:1', '16:9', '1K', '2', '1e3', 'null', 'on'))
  return fc.dictionary(
    fc.oneof(fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/), fc.constantFrom('null', 'true', 'constructor')),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }),
    { maxKeys: 3, noNullPrototype: true },
  )
}

/** Under names that no value set has. */
function anyFixedParams() {
  const value = fc.oneof(anyText(1, 8), fc.boolean(), fc.integer({ min: -9, max: 9 }))
  return fc.dictionary(fc.stringMatching(/^fixed_[a-z0-9_]{0,8}$/), value, {
    maxKeys: 2,
    noNullPrototype: true,
  })
}

function anyVideo() {
  return fc.constantFrom(...engineNames).chain(name => {
    const engine = engines[name]
    const durations = [4, 4.5, 5, 6, 8, 10, 15, 30].filter(seconds => allowsDuration(engine, seconds))
    const pinned = fc.constantFrom(...durations).map(duration => ({ duration }))
    return fc.record({
      engine: fc.constant(name),
      fixedParams: fc
        .tuple(anyFixedParams(), engine.requiresPin ? pinned : fc.oneof(fc.constant({}), pinned))
        .map(([others, pin]) => Object.assign({}, others, pin)),
      holdDurationSeconds: fc.constantFrom(secondsMax(engine), 60),
    })
  })
}

/** Printable text, including text that YAML reads as another type. */
function anyText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(
    fc
      .string({ unit: 'grapheme', minLength, maxLength: Math.ceil(maxLength / 2) })
      .filter(text => !/[\p{Cc}\p{Cs}]/u.test(text)),
    fc
      .constantFrom(
        'yes',
        'null',
        '~',
        '1.0',
        "it's",
        '"',
        ': ',
        '#a',
        '{}',
        '[',
        '*a',
        '&a',
        '!a',
        '%a',
        '@a',
        '`',
        '| ',
        '> a',
        '- ',
        '? x',
        ' x ',
        '日本',
        '😀',
        '.inf',
      )
      .filter(text => text.length <= maxLength),
  )
}

/** With tiers of prices for long inputs, or without. */
function anyTieredTariff(
  price: fc.Arbitrary<bigint>,
  output: fc.Arbitrary<bigint>,
): fc.Arbitrary<TextTariff> {
  const tier = fc.record({
    aboveInputTokens: fc.integer({ min: 1, max: 100_000_000 }),
    prices: anyPrices(price, output, []),
  })
  const tiers = fc
    .uniqueArray(tier, { selector: ({ aboveInputTokens }) => aboveInputTokens, minLength: 1, maxLength: 3 })
    .map(list => list.toSorted((left, right) => left.aboveInputTokens - right.aboveInputTokens))
  return fc
    .tuple(
      anyTariff(price, output),
      fc.record({ tiers, serviceTiers: anyServiceTiers() }, { requiredKeys: [] }),
    )
    .map(([tariff, more]) => Object.assign({}, tariff, more))
}

/** Factors from a billionth to 1000. */
export function anyServiceTiers(): fc.Arbitrary<ServiceTiers> {
  return fc.dictionary(
    fc.constantFrom('flex', 'priority', 'default', 'null', 'a.b-c_1', 'constructor'),
    fc.oneof(
      fc.bigInt(1n, 1_000_000_000_000n),
      fc.constantFrom(500_000_000n, 1_000_000_000n, 2_000_000_000n),
    ),
    { minKeys: 1, maxKeys: 3, noNullPrototype: true },
  )
}

/** Each finer bucket may have its own price or none. */
export function anyTariff(price: fc.Arbitrary<bigint>, output = price): fc.Arbitrary<TextTariff> {
  return anyPrices(price, output, ['input', 'output']) as fc.Arbitrary<TextTariff>
}

/** Any usage whose counts are of `counts`. */
export function anyUsage(counts: fc.Arbitrary<number>): fc.Arbitrary<Usage> {
  return fc.record({
    input: counts,
    cachedInput: counts,
    cacheWrite: counts,
    cacheWrite1h: counts,
    audioInput: counts,
    output: counts,
    reasoning: counts,
    audioOutput: counts,
    serverToolUses: counts,
    searchCalls: counts,
    fileSearches: counts,
  })
}

function anyPrices(
  price: fc.Arbitrary<bigint>,
  output: fc.Arbitrary<bigint>,
  requiredKeys: ('input' | 'output')[],
): fc.Arbitrary<object> {
  return fc.record(
    {
      input: price,
      output,
      cachedInput: price,
      cacheWrite: price,
      cacheWrite1h: price,
      audioInput: price,
      reasoning: price,
      audioOutput: price,
      perRequest: price,
      perServerToolUse: price,
      perSearchCall: price,
      perFileSearch: price,
    },
    { requiredKeys },
  )
}
