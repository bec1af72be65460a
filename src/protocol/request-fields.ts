import { GatewayError } from '../domain/errors.ts'
import { MemberWalk, keyOf, type Member } from './json/json-text.ts'
import { isJsonObject, type JsonDocument } from './json/parse-json.ts'

/** A longer text is more likely content than a wrong choice. The message does not repeat it. */
const CHOICE_CHARS_MAX = 40

/**
 * Checks of the fields that the gateway reads. Each takes a field's value and its path, treats null as absent, and
 * throws `invalid_field` with a message that says what the field must be.
 */

export function requiredName(value: unknown, param: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidField(param, 'a non-empty string', value)
}

/** A string, which may be empty. */
export function requiredText(value: unknown, param: string): string {
  if (typeof value === 'string') return value
  throw invalidField(param, 'a string', value)
}

export function requiredArray(value: unknown, param: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalidField(param, 'an array', value)
}

export function requiredTextOrArray(value: unknown, param: string): string | readonly unknown[] {
  if (typeof value === 'string' || Array.isArray(value)) return value
  throw invalidField(param, 'a string or an array', value)
}

export function optionalArray(value: unknown, param: string): readonly unknown[] | undefined {
  return isAbsent(value) ? undefined : requiredArray(value, param)
}

export function optionalBoolean(value: unknown, param: string): boolean | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'boolean') return value
  throw invalidField(param, 'true or false', value)
}

export function optionalObject(value: unknown, param: string): Readonly<Record<string, unknown>> | undefined {
  if (isAbsent(value)) return undefined
  if (isJsonObject(value)) return value
  throw invalidField(param, 'an object', value)
}

export function optionalInteger(
  value: unknown,
  param: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (isAbsent(value)) return undefined
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw invalidField(param, `an integer ${range}`, value)
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** The error for a field that must be one of a few words. */
export function invalidChoice(param: string, choices: readonly string[], value: unknown): GatewayError {
  const isShort = typeof value === 'string' && value.length <= CHOICE_CHARS_MAX
  const words = choices.map(choice => `"${choice}"`).join(', ')
  const found = isAbsent(value) ? 'it is missing' : `it is ${isShort ? JSON.stringify(value) : named(value)}`
  return new GatewayError('invalid_field', `"${param}" must be one of ${words}; ${found}.`, { param })
}

/** The error for a field with a wrong value; `expected` completes "must be". */
export function invalidField(param: string, expected: string, value: unknown): GatewayError {
  const message = `"${param}" must be ${expected}; ${isAbsent(value) ? 'it is missing' : `it is ${named(value)}`}.`
  return new GatewayError('invalid_field', message, { param })
}

function named(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty string'
  if (typeof value === 'string') return 'a string'
  return Array.isArray(value) ? 'an array' : 'an object'
}

const PLAIN = /^[a-z0-9_]*$/

/** The result of a walk through a document's members. */
type TopLevel = {
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
