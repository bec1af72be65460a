import type { AdminCaller } from '../../gateway/admin/operator.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type BufferedReply, type HttpReply } from '../request-context.ts'
import type { AdminPorts } from './ports.ts'

export type AdminRequest = Pick<IncomingRequest, 'method' | 'path' | 'query' | 'header' | 'text' | 'signal'>

/** An authorized request with its caller, and with the parameters of its path by their names in the route table. */
export type AdminCall = AdminCaller & {
  readonly request: AdminRequest
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string>>
}

/** Handles a request. Rejects with a `GatewayError` to refuse it. */
export type AdminHandler = (call: AdminCall, ports: AdminPorts) => Promise<HttpReply>

/** A reply with status 200. It must not be cached, because it can have balances or audit rows. */
export function adminReply(body: unknown): BufferedReply {
  return jsonReply(200, body, { 'cache-control': 'no-store' })
}
