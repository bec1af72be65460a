import { nearest } from '../domain/catalog/rows/nearest.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** All variables with this prefix are ours, and no others. */
const PREFIX = 'TOLLGATE_'

/**
 * The variables that Kubernetes sets in each pod for a service called `tollgate` or `tollgate-NAME`. `_PORT` has an
 * address, such as `tcp://10.0.0.1:80`.
 */
const serviceVariables = [/^TOLLGATE_(?:\w+_)?SERVICE_/, /^TOLLGATE_(?:\w+_)?PORT_/]
const servicePort = /^TOLLGATE_(?:\w+_)?PORT$/
const serviceAddress = /^(?:tcp|udp|sctp):\/\//

/** Whether Kubernetes set the variable. It counts as unset. */
export function isServiceVariable(name: string, text: string): boolean {
  return (
    serviceVariables.some(form => form.test(name)) || (servicePort.test(name) && serviceAddress.test(text))
  )
}

/** One sentence for each variable with our prefix that is not one of `settings`. It would have no effect. */
export function unknownVariables(environment: Environment, settings: readonly string[]): string[] {
  const unknown = Object.entries(environment).filter(
    ([name, text = '']) =>
      name.startsWith(PREFIX) &&
      text.trim() !== '' &&
      !settings.includes(name) &&
      !isServiceVariable(name, text),
  )
  return unknown.map(([name]) => {
    const meant = nearest(name.slice(PREFIX.length), settings.map(withoutPrefix))
    return meant === undefined
      ? `${name} is not a setting. Unset it, or rename it: names that begin with ${PREFIX} are settings of the gateway.`
      : `${name} is not a setting. Did you mean ${PREFIX}${meant}? Rename or unset it.`
  })
}

function withoutPrefix(name: string): string {
  return name.slice(PREFIX.length)
}

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
