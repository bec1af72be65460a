import type { Rejection } from '../../gateway/ports/media-provider.ts'
import type { WholeAnswer } from './send-whole.ts'

/** Why a submit was refused, by its HTTP status. For answers without a more specific code. */
export function reasonOf(status: number): Exclude<Rejection['reason'], 'no_id'> {
  if (status === 401 || status === 402 || status === 403) return 'operator'
  if (status === 429) return 'rate_limited'
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  return status >= 300 && status < 400 ? 'operator' : 'invalid'
}

/** The time that an answer asks to wait, as a member of an outcome. */
export function waitOf({ retryAfterS }: Pick<WholeAnswer, 'retryAfterS'>): { readonly retryAfterS?: number } {
  return retryAfterS === undefined ? {} : { retryAfterS }
}

/** Whether a value is an id that fits in one path segment. */
export function isUsableId(id: unknown): id is string {
  return typeof id === 'string' && id.isWellFormed() && !/^\.{0,2}$/.test(id)
}
