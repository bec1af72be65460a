import { headerVariable, mediaKindRules, type Provider } from '../../domain/catalog/provider.ts'
import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import type { Destination } from './destinations.ts'

/**
 * The hosts and keys of all upstreams that a request may have been sent to. They are removed from errors for clients.
 */
export function upstreamSecrets(destinations: readonly Destination[], secretOf: SecretOf): UpstreamSecrets {
  return {
    baseUrls: destinations.flatMap(({ provider }) => provider.baseUrl ?? []),
    keys: destinations.flatMap(({ provider }) => secretsOf(provider, secretOf)),
  }
}

/** Returns a provider's key; undefined if it has none. */
export type SecretOf = (provider: Provider) => string | undefined

/**
 * The texts of a provider that are removed from errors for clients: its key, and the values of its headers from
 * environment variables. A key pair is two texts, because an error may repeat one of them.
 */
export function secretsOf(provider: Provider, secretOf: SecretOf): readonly string[] {
  const key = secretOf(provider)
  const hasKeyPair = mediaKindRules(provider.kind)?.hasKeyPair === true
  const keys = hasKeyPair ? key?.split(',') : [key]
  const variables = Object.values(provider.headers).flatMap(value => headerVariable(value) ?? [])
  const ofHeaders = variables.map(variable =>
    secretOf({ ...provider, secret: { from: 'environment', variable } }),
  )
  return [...(keys ?? []), ...ofHeaders].filter(secret => secret !== undefined)
}
