import { requireScope } from '../../gateway/admin/tokens/admit-token.ts'
import { requireRole, THE_ADMIN, type AdminCaller } from '../../gateway/admin/operator.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import { readText, type IncomingRequest } from '../incoming-request.ts'
import { errorBody, errorHeaders, gatewayErrorOf, statusOfError } from '../errors.ts'
import type { Handler, HttpReply, RequestContext } from '../request-context.ts'
import { wholeRange } from '../../http1/byte-range.ts'
import { readToEnd } from '../../http1/read-all.ts'
import { bodyTooLarge } from '../../http1/server/http-error.ts'
import { bodyText } from '../../http1/server/server-request.ts'
import { requireCaller, type AdminAccess } from './admin-access.ts'
import type { AdminRequest } from './call.ts'
import type { AdminPorts } from './ports.ts'
import { matchRoute } from './match-route.ts'
import { routes } from './routes.ts'

/** The prefix of every path of the admin API. */
export const ADMIN_PATH = '/admin/api/'

/** The owner of the memory for its bodies. No API key has this id. */
const ADMIN = 0

/** The admin API of a server, for every path below `ADMIN_PATH`. Each request needs the admin key or an admin token. */
export function adminApi(ports: AdminPorts, access: AdminAccess, bodyMemory: ByteBudget): Handler {
  return async context => {
    const caller = await requireCaller(access, context.request)
    return answer(bufferedRequest(context, bodyMemory), caller, ports)
  }
}

/**
 * The same routes below another path, for callers that come with something else than a key. `callerOf` rejects to
 * refuse a request.
 */
export function adminApiAt(
  path: string,
  ports: AdminPorts,
  {
    callerOf,
    bodyMemory,
  }: {
    readonly callerOf: (request: IncomingRequest) => Promise<AdminCaller>
    readonly bodyMemory: ByteBudget
  },
): Handler {
  return async context => {
    const caller = await callerOf(context.request)
    const request = bufferedRequest(context, bodyMemory)
    return answer({ ...request, path: ADMIN_PATH + request.path.slice(path.length) }, caller, ports)
  }
}

/** A request whose body is read into the memory for bodies of operators. */
export function bufferedRequest(context: RequestContext, bodyMemory: ByteBudget): AdminRequest {
  const { request } = context
  const memory = (context.bodyMemory = bodyMemory.open(ADMIN))
  const { method, path, query, signal } = request
  return {
    method,
    path,
    query,
    signal,
    header: name => request.header(name),
    text: limits => readText(request, limits, memory),
  }
}

/**
 * The admin API of an opened data folder, for the command line. It needs no key. Errors are replies in the error
 * envelope. It rejects only for a bug or an outage.
 */
export function trustedAdminApi(ports: AdminPorts): (request: Request) => Promise<Response> {
  return async request => {
    try {
      const { status, headers, body } = await answer(localRequest(request), THE_ADMIN, ports)
      return new Response(await bodyOf(body), { status, headers })
    } catch (error) {
      const refusal = gatewayErrorOf(error)
      if (refusal === undefined) throw error
      return Response.json(errorBody(refusal), {
        status: statusOfError(refusal.code),
        headers: errorHeaders(refusal),
      })
    }
  }
}

async function bodyOf(body: HttpReply['body']): Promise<BodyInit | null> {
  if (body === null || typeof body === 'string') return body
  return body instanceof Uint8Array ? Uint8Array.from(body) : readToEnd(body)
}

async function answer(request: AdminRequest, caller: AdminCaller, ports: AdminPorts): Promise<HttpReply> {
  const { method, path } = request
  const { handler, scopes, roles, params } = matchRoute(routes, method, path.slice(ADMIN_PATH.length))
  requireRole(caller, roles)
  requireScope(caller, scopes)
  return handler({ ...caller, request, query: new URLSearchParams(request.query), params }, ports)
}

/** Wraps a request that was made in this process for a handler. */
export function localRequest(request: Request): AdminRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: name => request.headers.get(name),
    async text({ bytesMax }) {
      const bytes = Buffer.from(await request.arrayBuffer())
      if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax)
      return bodyText(wholeRange(bytes))
    },
    signal: request.signal,
  }
}
