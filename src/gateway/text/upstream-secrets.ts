import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import { secretsOf, type SecretOf } from '../upstreams/provider-secrets.ts'
import type { Destination } from './resolve-model.ts'

/**
 * The hosts and keys of all upstreams that a request may have been sent to. They are removed from errors for clients.
 */
export function upstreamSecrets(destinations: readonly Destination[], secretOf: SecretOf): UpstreamSecrets {
  return {
    baseUrls: destinations.flatMap(({ provider }) => provider.baseUrl ?? []),
    keys: destinations.flatMap(({ provider }) => secretsOf(provider, secretOf)),
  }
}
