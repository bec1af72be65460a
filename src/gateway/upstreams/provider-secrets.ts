import { headerVariable, mediaKindRules, type Provider } from '../../domain/catalog/provider.ts'

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
