import { GatewayError } from '../../domain/errors.ts'
import type { Member } from './members.ts'

const PLAIN = /^[a-z0-9_]*$/

/**
 * The members that are among `fields`, the ones that the gateway reads. Throws `ambiguous_field` when one of them stands more
 * than once, or in another case: a parser upstream could read the other one, and then the price would be wrong. Members that
 * the gateway does not read may repeat as they like.
 */
export function unambiguousFields(members: Iterable<Member>, fields: ReadonlySet<string>): Member[] {
  const found: Member[] = []
  for (const member of members) {
    const { key } = member
    const field = fields.has(key) || PLAIN.test(key) ? key : folded(key)
    if (!fields.has(field)) continue
    if (key !== field) {
      throw ambiguous(field, `${JSON.stringify(key)} is read as "${field}" by some parsers and not by others`)
    }
    if (found.some(other => other.key === field)) {
      throw ambiguous(
        field,
        `"${field}" is in the body more than once, and parsers disagree on which one counts`,
      )
    }
    found.push(member)
  }
  return found
}

/**
 * As forgiving as the most forgiving parser. Going through the upper case folds what a lower case alone does not: the
 * long s (U+017F) and the Kelvin sign (U+212A), which Go's encoding/json folds, and the dotless i, which Java's does.
 */
function folded(key: string): string {
  return key.toUpperCase().toLowerCase().replaceAll('\u0307', '')
}

function ambiguous(field: string, reason: string): GatewayError {
  return new GatewayError('ambiguous_field', `${reason}. Send "${field}" once, spelled exactly so.`, {
    param: field,
  })
}
