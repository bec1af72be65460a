import type { Provider } from '../../domain/catalog/provider.ts'
import { addressOf, type SecretOf } from '../http/address.ts'

export const KEY_HEADER = 'x-goog-api-key'

/** The address of a path of the API. The base URL ends with the version: `/v1beta`. */
export function geminiAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): ReturnType<typeof addressOf> {
  return addressOf(provider, path, secretOf, secret => (secret === undefined ? {} : { [KEY_HEADER]: secret }))
}
