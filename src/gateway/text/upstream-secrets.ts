import { headerVariable, type Provider } from '../../domain/catalog/provider.ts'
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
    keys: destinations.flatMap(({ provider }) => secretsOf(provider, secretOf)),
  }
}

/** The key of a provider, and the values of its headers from environment variables. */
function secretsOf(provider: Provider, secretOf: SecretOf): readonly string[] {
  const variables = Object.values(provider.headers).flatMap(value => headerVariable(value) ?? [])
  const ofHeaders = variables.map(variable =>
    secretOf({ ...provider, secret: { from: 'environment', variable } }),
  )
  return [secretOf(provider), ...ofHeaders].filter(secret => secret !== undefined)
}
