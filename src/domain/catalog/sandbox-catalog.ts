import { usd } from '../money.ts'
import type { CatalogSettings } from './catalog.ts'
import type { ModelSettings, Upstream } from './model.ts'
import { CONNECT_TIMEOUT_MS, openAiRoutes } from './provider.ts'

const PROVIDER = 'sandbox'
const CONTEXT_WINDOW = 128_000
const OUTPUT_TOKENS_MAX = 4096
const OWNER = 'sandbox'

/**
 * The catalog of a first start. Its models run on the built-in sandbox provider, and their names say so. Their prices
 * are made up, and cover every kind of price that a text tariff can have.
 */
export const SANDBOX_CATALOG: CatalogSettings = {
  providers: [
    {
      id: PROVIDER,
      kind: 'sandbox',
      secret: { from: 'none' },
      headers: {},
      routes: openAiRoutes,
      maxTokensField: 'max_tokens',
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      reusesConnections: true,
    },
  ],
  models: [
    chat('sandbox-chat', {
      displayName: 'Sandbox Chat',
      description: 'A sandbox, not a real model: made-up text with true usage, for trying the gateway.',
      pricing: {
        kind: 'tariff',
        tariff: {
          input: usd('2.5'),
          cachedInput: usd('1.25'),
          output: usd('10'),
          reasoning: usd('12'),
        },
      },
    }),
    chat('sandbox-mini', {
      displayName: 'Sandbox Mini',
      description: 'A sandbox, not a real model: like Sandbox Chat, at a lower price.',
      pricing: { kind: 'tariff', tariff: { input: usd('0.15'), output: usd('0.6') } },
    }),
    chat('sandbox-free', {
      displayName: 'Sandbox Free',
      description: 'A sandbox, not a real model: like Sandbox Chat, free of charge.',
      pricing: { kind: 'free' },
    }),
    {
      id: 'sandbox-embed',
      kind: 'embedding',
      enabled: true,
      displayName: 'Sandbox Embed',
      description:
        'A sandbox, not a real model: the same text always gets the same vector, which has no meaning.',
      ownedBy: OWNER,
      upstreams: upstream('sandbox-embed'),
      pricing: { kind: 'tariff', tariff: { input: usd('0.02'), output: usd('0') } },
      contextWindow: 8192,
    },
    {
      id: 'sandbox-image',
      kind: 'image',
      enabled: true,
      displayName: 'Sandbox Image',
      description: 'A sandbox, not a real model: a PNG with a pattern, of the requested shape and size.',
      ownedBy: OWNER,
      upstreams: upstream('image'),
      pricing: { perImage: usd('0.04') },
      params: {
        aspect_ratio: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9'],
        resolution: ['1K', '2K', '4K'],
      },
      fixedParams: {},
    },
    {
      id: 'sandbox-video',
      kind: 'video',
      enabled: true,
      displayName: 'Sandbox Video',
      description: 'A sandbox, not a real model: an MP4 clip with a moving pattern, of the requested length.',
      ownedBy: OWNER,
      upstreams: upstream('video'),
      engine: 'family-a',
      pricing: { perSecond: usd('0.05') },
      params: { aspect_ratio: ['16:9', '9:16', '1:1'] },
      fixedParams: {},
      holdDurationSeconds: 15,
    },
  ],
}

function chat(
  id: string,
  own: Pick<Extract<ModelSettings, { kind: 'chat' }>, 'displayName' | 'description' | 'pricing'>,
): ModelSettings {
  return {
    id,
    kind: 'chat',
    enabled: true,
    ownedBy: OWNER,
    upstreams: upstream(id),
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    contextWindow: CONTEXT_WINDOW,
    ...own,
  }
}

function upstream(model: string): readonly Upstream<never>[] {
  return [{ provider: PROVIDER, model, order: 1, weight: 1 }]
}
