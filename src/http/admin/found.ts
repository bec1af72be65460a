import { GatewayError } from '../../domain/errors.ts'

/** Returns the value. Throws `not_found` if it is undefined. */
export function found<Value>(value: Value | undefined, sentence: string): Value {
  if (value === undefined) throw new GatewayError('not_found', sentence)
  return value
}
