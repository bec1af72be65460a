import { GatewayError } from '../../domain/errors.ts'

/**
 * Deeper than any tool's schema or arguments. JSON.stringify looks through all the levels above at each level, so that a few
 * kilobytes of brackets would cost a second.
 */
const DEPTH_MAX = 500

/** The JSON of what was read out of a request. Throws `invalid_json` for what is nested too deeply to be written. */
export function jsonText(value: object): string {
  if (isDeeper(value, DEPTH_MAX)) {
    throw new GatewayError('invalid_json', `The request body is nested deeper than ${DEPTH_MAX} levels.`)
  }
  return JSON.stringify(value)
}

function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some(item => isObject(item) && isDeeper(item, levels - 1))
  const members = value as Readonly<Record<string, unknown>>
  for (const key in members) {
    const member = members[key]
    if (isObject(member) && isDeeper(member, levels - 1)) return true
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
