import { withoutKeyTexts } from '../../domain/accounts/api-key-text.ts'
import { nearestFew } from '../../domain/catalog/rows/nearest.ts'
import { quote } from '../../domain/catalog/rows/row.ts'
import { GatewayError } from '../../domain/errors.ts'

const SUGGESTIONS_MAX = 3

/** Returns the value. Throws `not_found` with the sentence if it is undefined. */
export function found<Value>(value: Value | undefined, sentence: () => string): Value {
  if (value === undefined) throw new GatewayError('not_found', sentence())
  return value
}

/**
 * A sentence that names what was not found, such as `account`, and suggests similar names. It does not repeat the text
 * of a key, which an operator can have typed instead.
 */
export function absenceOf(thing: string, name: string, known: readonly string[] = []): string {
  const shown = quote(withoutKeyTexts(name))
  const near = nearestFew(name, known, SUGGESTIONS_MAX).map(quote)
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  return `There is no ${thing} ${shown}.${meant}`
}
