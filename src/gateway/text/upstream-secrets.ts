import type { Provider } from '../../domain/catalog/provider.ts'
import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import type { Destination } from './resolve-model.ts'

/** What no client may read in an error: the hosts and keys of all the upstreams a request may have gone to. */
export function upstreamSecrets(
  destinations: readonly Destination[],
  secretOf: (provider: Provider) => string | undefined,
): UpstreamSecrets {
  return {
    baseUrls: destinations.flatMap(({ provider }) => provider.baseUrl ?? []),
    keys: destinations.flatMap(({ provider }) => secretOf(provider) ?? []),
  }
}
