import type { Provider } from '../../domain/catalog/provider.ts'
import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import type { Destination } from './resolve-model.ts'

/** Returns a provider's key; undefined if it has none. */
export type SecretOf = (provider: Provider) => string | undefined

/**
 * The hosts and keys of all upstreams that a request may have been sent to. They are removed from errors for clients.
 */
export function upstreamSecrets(destinations: readonly Destination[], secretOf: SecretOf): UpstreamSecrets {
  return {
    baseUrls: destinations.flatMap(({ provider }) => provider.baseUrl ?? []),
    keys: destinations.flatMap(({ provider }) => secretOf(provider) ?? []),
  }
}
