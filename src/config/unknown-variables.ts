import { nearest } from '../domain/catalog/rows/nearest.ts'
import type { Environment } from './config.ts'

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
