import { headerVariable, type Provider } from '../domain/catalog/provider.ts'

/** The key of a provider as it is sent; undefined if it has none or its environment variable is not set. */
export type SecretOf = (provider: Provider) => string | undefined

/**
 * The headers of a provider's row, with the values of environment variables in place of `env:NAME`; or why they cannot
 * be sent: a sentence for the operator.
 */
export function extraHeaders(
  provider: Provider,
  secretOf: SecretOf,
): { readonly headers: Readonly<Record<string, string>> } | { readonly problem: string } {
  const headers: Record<string, string> = {}
  for (const [name, written] of Object.entries(provider.headers)) {
    const variable = headerVariable(written)
    const value =
      variable === undefined ? written : secretOf({ ...provider, secret: { from: 'environment', variable } })
    if (value === undefined)
      return { problem: `the environment variable ${variable} of its header ${name} is not set` }
    headers[name] = value
  }
  return { headers }
}
