import { GatewayError } from '../../domain/errors.ts'
import { keyOf, MemberWalk, type Member } from './members.ts'
import type { JsonDocument } from './parse-json.ts'

const PLAIN = /^[a-z0-9_]*$/

/** What looking through a document's members shows. */
export type TopLevel = {
  /** Where the member that was asked for stands; undefined where there is none. */
  readonly wanted: Member | undefined
  /** How deep the document is nested. */
  readonly depth: number
}

/**
 * Looks through the members of a document, for one of them. Throws `ambiguous_field` when one of `fields`, the ones that the
 * gateway reads, stands more than once, or in another case: a parser upstream could read the other one, and then the price would
 * be wrong. Members that the gateway does not read may repeat as they like.
 */
export function unambiguousFields(
  { text, value }: JsonDocument,
  fields: ReadonlySet<string>,
  name: string,
): TopLevel {
  let wanted: Member | undefined
  let count = 0
  const walk = new MemberWalk(text)
  for (; walk.next(); count += 1) {
    if (walk.isNamed(name)) wanted = walk.member()
  }
  for (const key in value) {
    if (fields.has(key) || PLAIN.test(key)) count -= 1
  }
  // As many members as the parser kept keys, all in plain small letters: none repeats, and none is written in another way.
  if (count !== 0) refuseAmbiguous(text, fields)
  return { wanted, depth: walk.depth }
}

function refuseAmbiguous(text: string, fields: ReadonlySet<string>): void {
  const found = new Set<string>()
  for (const walk = new MemberWalk(text); walk.next();) {
    const key = keyOf(text, walk)
    const field = fields.has(key) || PLAIN.test(key) ? key : folded(key)
    if (!fields.has(field)) continue
    if (key !== field) {
      throw ambiguous(field, `${JSON.stringify(key)} is read as "${field}" by some parsers and not by others`)
    }
    if (found.has(field)) {
      throw ambiguous(
        field,
        `"${field}" is in the body more than once, and parsers disagree on which one counts`,
      )
    }
    found.add(field)
  }
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
