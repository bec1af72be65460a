import { GatewayError } from '../../domain/errors.ts'

/**
 * Deeper than any tool's schema or arguments. JSON.stringify looks through all the levels above at each level, so that a few
 * kilobytes of brackets would cost a second.
 */
const DEPTH_MAX = 500

/** Throws `invalid_json` for a request that is nested too deeply for what is read out of it to be written again. */
export function assertMaxDepth(depth: number): void {
  if (depth <= DEPTH_MAX) return
  throw new GatewayError('invalid_json', `The request body is nested deeper than ${DEPTH_MAX} levels.`)
}
