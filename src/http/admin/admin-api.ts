import { createHash, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../../domain/errors.ts'
import { bearerKey } from '../authenticate.ts'
import { errorBody, errorHeaders, statusOfError } from '../errors.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { Handler } from '../request-context.ts'
import type { AdminPorts, Reply } from './call.ts'
import { localRequest } from './local-request.ts'
import { matchRoute } from './match-route.ts'
import { routes } from './routes.ts'

/** The prefix of every path of the admin API. */
export const ADMIN_PATH = '/admin/api/'

/** The admin API of a server, for every path below `ADMIN_PATH`. Each request needs the admin key. */
export function adminApi(ports: AdminPorts, adminKey: string): Handler {
  const isAdmin = adminKeyCheck(adminKey)
  return ({ request }) => {
    if (!isAdmin(request)) throw notTheAdmin(request)
    return answer(request, ports)
  }
}

/**
 * The admin API of an opened data folder, for the command line. It needs no key. Errors are replies in the error envelope. It
 * rejects only for a bug or an outage.
 */
export function trustedAdminApi(ports: AdminPorts): (request: Request) => Promise<Response> {
  return async request => {
    try {
      const { status, headers, body } = await answer(localRequest(request), ports)
      return new Response(body, { status, headers })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return Response.json(errorBody(error), {
        status: statusOfError(error.code),
        headers: errorHeaders(error),
      })
    }
  }
}

/** Whether a request has `Authorization: Bearer` with the admin key. Compares in constant time. */
export function adminKeyCheck(adminKey: string): (request: IncomingRequest) => boolean {
  const expected = digestOf(adminKey)
  return request => {
    const key = bearerKey(request.header('authorization'))
    return key !== null && timingSafeEqual(digestOf(key), expected)
  }
}

async function answer(request: IncomingRequest, ports: AdminPorts): Promise<Reply> {
  const { method, path } = request
  const { handler, params } = matchRoute(routes, method, path.slice(ADMIN_PATH.length))
  return handler({ request, query: new URLSearchParams(request.query), params }, ports)
}

function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function notTheAdmin(request: IncomingRequest): GatewayError {
  const sentence =
    request.header('authorization') !== null
      ? 'The admin key is wrong.'
      : 'The admin API needs the admin key. Send it as "Authorization: Bearer <admin key>".'
  return new GatewayError('invalid_api_key', sentence, { shouldRetry: false })
}
