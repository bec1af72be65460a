import { secretFromEnvironment } from '../config/config.ts'
import type { Provider } from '../domain/catalog/provider.ts'

/** The key of a provider. Undefined if it needs none, or if its environment variable is not set. */
export function secretOf({ secret }: Provider): string | undefined {
  if (secret.from === 'environment') return secretFromEnvironment(secret.variable)
  if (secret.from === 'environment_pair') return keyPairFromEnvironment(secret.variables)
  return secret.from === 'literal' ? secret.value : undefined
}

/** Both keys of a provider that has two, with a comma between them. Undefined unless both are set. */
function keyPairFromEnvironment(variables: readonly [string, string]): string | undefined {
  const keys = variables.map(variable => secretFromEnvironment(variable))
  return keys.includes(undefined) ? undefined : keys.join(',')
}
