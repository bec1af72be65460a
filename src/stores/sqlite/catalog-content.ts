import type { AnyModelSettings } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { decodeModel } from '../../domain/catalog/rows/model-row.ts'
import { problemSentence, type Checked } from '../../domain/catalog/rows/problem.ts'
import { decodeStoredProvider } from '../../domain/catalog/rows/provider-row.ts'
import type { SecretBox } from './secrets/secret-box.ts'

/** A stored provider: its row as JSON, and its literal key, encrypted. */
export type ProviderContent = { id: string; content: string; sealed_secret: Uint8Array | null }
/** A stored model: its row as JSON. */
export type ModelContent = { id: string; content: string }

/**
 * Reads a stored provider. A key that cannot be decrypted is lost. Throws an Error for the operator if the row cannot
 * be read.
 */
export function readProvider(row: ProviderContent, box: SecretBox): Provider {
  const { secret, ...provider } = valid(`provider "${row.id}"`, decodeStoredProvider(JSON.parse(row.content)))
  if (secret.from !== 'keep') return { ...provider, secret }
  const value = openSecret(row, box)
  return { ...provider, secret: value === undefined ? { from: 'lost' } : { from: 'literal', value } }
}

/** Reads a stored model. Throws an Error for the operator if the row cannot be read. */
export function readModelContent({ id, content }: ModelContent): AnyModelSettings {
  return valid(`model "${id}"`, decodeModel(JSON.parse(content)))
}

/** The literal key of a provider; undefined if it has none, and if it cannot be decrypted. */
export function openSecret({ id, sealed_secret }: ProviderContent, box: SecretBox): string | undefined {
  return sealed_secret === null ? undefined : box.open(sealed_secret, id)
}

function valid<T>(thing: string, decoded: Checked<T>): T {
  if (decoded.ok) return decoded.value
  const problems = decoded.problems.map(problem => problemSentence(problem, 'The row')).join(' ')
  throw new Error(`The stored ${thing} cannot be read by this version of tollgate: ${problems}`)
}
