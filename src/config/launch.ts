import type { Environment } from './config.ts'

const CONCURRENT_CALLS = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * What is wrong with the way this process was started, as a sentence. Bun reads how many calls `fetch` makes at once before
 * any line of ours runs. The moderator is asked by way of it, and behind a proxy the upstreams are: at its default, the 257th
 * concurrent call waits for another to end.
 */
export function launchProblem(environment: Environment): string | undefined {
  if (/^[1-9]\d*$/.test(environment[CONCURRENT_CALLS] ?? '')) return undefined
  return `${CONCURRENT_CALLS} is not set. Start through "npm start" or bin/tollgate, which set it.`
}
