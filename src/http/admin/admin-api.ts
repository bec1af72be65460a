import { createHash, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../../domain/errors.ts'
import type { Actor } from '../../gateway/admin/operator.ts'
import type { ByteBudget } from '../../gateway/byte-budgets/byte-budget.ts'
import type { BodyLimits } from '../../http1/server/request-body.ts'
import { bearerKey, readText } from '../incoming-request.ts'
import { errorBody, errorHeaders, gatewayErrorOf, statusOfError } from '../errors.ts'
import type { BufferedReply, Handler } from '../request-context.ts'
import { wholeRange } from '../../http1/byte-range.ts'
import { bodyTooLarge } from '../../http1/server/http-error.ts'
import { bodyText } from '../../http1/server/server-request.ts'
import type { AdminPorts, AdminRequest } from './call.ts'
import { matchRoute } from './match-route.ts'
import { routes } from './routes.ts'

/** The prefix of every path of the admin API. */
export const ADMIN_PATH = '/admin/api/'

/** The owner of the memory for its bodies. No API key has this id. */
const ADMIN = 0

/** Whoever has the admin key, or the data folder. */
const ACTOR: Actor = 'admin'

/** The admin API of a server, for every path below `ADMIN_PATH`. Each request needs the admin key. */
export function adminApi(ports: AdminPorts, adminKey: string, bodyMemory: ByteBudget): Handler {
  const checkKey = requireAdmin(adminKey)
  return async context => {
    const { request } = context
    checkKey(request)
    const memory = (context.bodyMemory = bodyMemory.open(ADMIN))
    const { method, path, query } = request
    const header = (name: string) => request.header(name)
    const text = (limits: BodyLimits) => readText(request, limits, memory)
    return answer({ method, path, query, header, text }, ports)
  }
}

/**
 * The admin API of an opened data folder, for the command line. It needs no key. Errors are replies in the error
 * envelope. It rejects only for a bug or an outage.
 */
export function trustedAdminApi(ports: AdminPorts): (request: Request) => Promise<Response> {
  return async request => {
    try {
      const { status, headers, body } = await answer(localRequest(request), ports)
      return new Response(body, { status, headers })
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

/** Whether a request has `Authorization: Bearer` with the admin key. Compares in constant time. */
export function adminKeyCheck(adminKey: string): (request: Pick<AdminRequest, 'header'>) => boolean {
  const expected = digestOf(adminKey)
  return request => {
    const key = bearerKey(request.header('authorization'))
    return key !== null && timingSafeEqual(digestOf(key), expected)
  }
}

/** Throws `invalid_api_key` for a request without the admin key. */
export function requireAdmin(adminKey: string): (request: Pick<AdminRequest, 'header'>) => void {
  const isAdmin = adminKeyCheck(adminKey)
  return request => {
    if (!isAdmin(request)) throw notTheAdmin(request)
  }
}

async function answer(request: AdminRequest, ports: AdminPorts): Promise<BufferedReply> {
  const { method, path } = request
  const { handler, params } = matchRoute(routes, method, path.slice(ADMIN_PATH.length))
  return handler({ request, query: new URLSearchParams(request.query), params, actor: ACTOR }, ports)
}

function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function notTheAdmin(request: Pick<AdminRequest, 'header'>): GatewayError {
  const sentence =
    request.header('authorization') !== null
      ? 'The admin key is wrong.'
      : 'The admin API needs the admin key. Send it as "Authorization: Bearer <admin key>".'
  return new GatewayError('invalid_api_key', sentence, { shouldRetry: false })
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
  }
}
