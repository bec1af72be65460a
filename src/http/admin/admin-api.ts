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

/** What every path of the admin API begins with. */
export const ADMIN_PATH = '/admin/api/'

/** The admin API as a server offers it, at every path below `ADMIN_PATH`: each request needs the admin key. */
export function adminApi(ports: AdminPorts, adminKey: string): Handler {
  const isAdmin = adminKeyCheck(adminKey)
  return ({ request }) => {
    if (!isAdmin(request)) throw notTheAdmin(request)
    return answer(request, ports)
  }
}

/**
 * The admin API for whoever owns the data folder, as the command line does where no server runs: no key is asked for.
 * Refusals are answers, in the envelope of every error; it rejects only for a bug or an outage.
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

/**
 * Whether a request carries `Authorization: Bearer` and the admin key. Takes as long for a key that is nearly right
 * as for any other.
 */
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
      ? 'This is not the admin key.'
      : 'The admin API needs the admin key. Send it as "Authorization: Bearer <admin key>".'
  return new GatewayError('invalid_api_key', sentence, { shouldRetry: false })
}
