import { GatewayError } from '../../domain/errors.ts'

/** Throws `not_found` for what there is none of. */
export function found<Value>(value: Value | undefined, sentence: string): Value {
  if (value === undefined) throw new GatewayError('not_found', sentence)
  return value
}
