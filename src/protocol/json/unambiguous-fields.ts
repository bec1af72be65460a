import { GatewayError } from '../../domain/errors.ts'
import { keyOf, MemberWalk, type Member } from './members.ts'
import type { JsonDocument } from './parse-json.ts'

const PLAIN = /^[a-z0-9_]*$/

/** The result of a walk through a document's members. */
export type TopLevel = {
  /** The place of the wanted member; undefined when there is none. */
  readonly wanted: Member | undefined
  /** The nesting depth of the document. */
  readonly depth: number
}

/**
 * Finds the member `name` of a document. Throws `ambiguous_field` when one of `fields`, the ones that the gateway
 * reads, occurs twice or in another case: the upstream's parser could read the other one, and then the price would be
 * wrong. Members that the gateway does not read may repeat.
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
  // The parser kept as many keys as there are members, all in plain lower case: none repeats, and none has another
  // spelling.
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
      throw ambiguous(field, `Some parsers read ${JSON.stringify(key)} as "${field}", and others do not`)
    }
    if (found.has(field)) {
      throw ambiguous(
        field,
        `"${field}" is in the body more than once, and parsers differ in which one they read`,
      )
    }
    found.add(field)
  }
}

/**
 * Folds case like the most tolerant parser. Converting to upper case first also folds the long s (U+017F) and the
 * Kelvin sign (U+212A), as Go's encoding/json does, and the dotless i, as Java does.
 */
export function folded(key: string): string {
  return key.toUpperCase().toLowerCase().replaceAll('\u0307', '')
}

function ambiguous(field: string, reason: string): GatewayError {
  return new GatewayError('ambiguous_field', `${reason}. Send "${field}" once, with exactly this spelling.`, {
    param: field,
  })
}
