import { GatewayError } from '../domain/errors.ts'
import { isJsonObject } from './json/parse-json.ts'

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
