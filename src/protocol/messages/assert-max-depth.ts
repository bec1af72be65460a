import { invalidJson } from '../json/parse-json.ts'

/**
 * Deeper than any tool's schema or arguments. JSON.stringify checks all outer levels at each level, so that a few
 * kilobytes of brackets would take a second.
 */
const DEPTH_MAX = 500

/** Throws `invalid_json` for a request that is nested too deeply to be converted. */
export function assertMaxDepth(depth: number): void {
  if (depth <= DEPTH_MAX) return
  throw invalidJson(`it is nested deeper than ${DEPTH_MAX} levels`)
}
