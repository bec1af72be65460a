import type { KeyRoute } from '../domain/accounts/key-settings.ts'
import { admitCaller, type AdmitCallerPorts } from '../gateway/admission/admit-caller.ts'
import type { Authenticated } from '../gateway/ports/access/api-keys.ts'
import type { Forwarding } from './forwarding.ts'
import { presentedKey } from './incoming-request.ts'
import type { HttpReply, Handler, RequestContext } from './request-context.ts'

export type CallerPorts = AdmitCallerPorts & { readonly forwarding: Pick<Forwarding, 'certainClient'> }

/**
 * Wraps a read that needs an API key. It counts as a request of the key. Without a route, every key may read.
 */
export type Keyed = (
  handle: (caller: Authenticated, context: RequestContext) => Promise<HttpReply>,
  route?: KeyRoute,
) => Handler

/** Admits the caller of a request on a group of routes. Throws as `admitCaller` does. */
export function callerOf(
  { request, record }: Pick<RequestContext, 'request' | 'record'>,
  route: KeyRoute | undefined,
  ports: CallerPorts,
): Promise<Authenticated> {
  const clientAddress = () => ports.forwarding.certainClient(request)
  return admitCaller({ key: presentedKey(request), route, clientAddress }, record, ports)
}
