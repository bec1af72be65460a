import type { Environment } from './config.ts'

const CONCURRENT_CALLS = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * What is wrong with the way this process was started, as a sentence. Bun reads this variable before it runs any code,
 * and limits the concurrent calls of `fetch` by it. Calls to the moderator, and to providers behind a proxy, use
 * `fetch`. With the default of 256, the 257th concurrent call waits for another one to end.
 */
export function launchProblem(environment: Environment): string | undefined {
  if (/^[1-9]\d*$/.test(environment[CONCURRENT_CALLS] ?? '')) return undefined
  return `${CONCURRENT_CALLS} is not set. Start the gateway with "npm start" or bin/tollgate; they set it.`
}
