import { providerKinds, type MediaKind, type Provider } from '../../src/domain/catalog/provider.ts'
import type { ProviderAdapter, ProviderAdapters } from '../../src/gateway/ports/providers/providers.ts'

/** The row of the built-in sandbox. */
export const sandboxProvider: Provider = {
  id: 'sandbox',
  kind: 'sandbox',
  secret: { from: 'none' },
  headers: {},
  routes: [],
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5000,
  reusesConnections: true,
}

export function openAiImagesProvider(baseUrl: string, key = 'sk-test'): Provider {
  return {
    ...sandboxProvider,
    id: 'pics',
    kind: 'openai-images',
    baseUrl,
    secret: { from: 'literal', value: key },
  }
}

/** A row of a kind of provider of images or videos. */
export function mediaProviderRow(kind: MediaKind, baseUrl: string, key = 'key-1'): Provider {
  return { ...sandboxProvider, id: kind, kind, baseUrl, secret: { from: 'literal', value: key } }
}

/** One adapter in place of all. */
export function adaptersOfAllKinds(adapter: ProviderAdapter): ProviderAdapters {
  return Object.fromEntries(providerKinds.map(kind => [kind, adapter])) as ProviderAdapters
}

/** `keys` are the access key and the secret key, with a comma between them. */
export function klingProvider(baseUrl: string, keys = 'access,secret'): Provider {
  return { ...sandboxProvider, id: 'films', kind: 'kling', baseUrl, secret: { from: 'literal', value: keys } }
}

/** The key of a provider whose row has it as a literal. */
export function literalSecret({ secret }: Provider): string | undefined {
  return secret.from === 'literal' ? secret.value : undefined
}
