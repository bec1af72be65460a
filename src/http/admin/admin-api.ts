import { createHash, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../../domain/errors.ts'
import { bearerKey } from '../authenticate.ts'
import { errorBody, errorHeaders, statusOfError } from '../errors.ts'
import type { Handler } from '../request-context.ts'
import { requestUrl } from '../request-url.ts'
import type { AdminPorts, Reply } from './call.ts'
import { matchRoute } from './match-route.ts'
import { routes } from './routes.ts'

export const ADMIN_PATH = '/admin/api/'

/** The admin API as a server offers it, at every path below `ADMIN_PATH`: each request needs the admin key. */
export function adminApi(ports: AdminPorts, adminKey: string): Handler {
  const isAdmin = adminKeyCheck(adminKey)
  return ({ request }) => {
    if (!isAdmin(request.headers)) throw notTheAdmin(request.headers)
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
      const { status, headers, body } = await answer(request, ports)
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
 * Whether a request's headers carry `Authorization: Bearer` and the admin key. Takes as long for a key that is nearly right
 * as for any other.
 */
export function adminKeyCheck(adminKey: string): (headers: Headers) => boolean {
  const expected = digestOf(adminKey)
  return headers => {
    const key = bearerKey(headers.get('authorization'))
    return key !== null && timingSafeEqual(digestOf(key), expected)
  }
}

async function answer(request: Request, ports: AdminPorts): Promise<Reply> {
  const url = requestUrl(request)
  const { handler, params } = matchRoute(routes, request.method, url.pathname.slice(ADMIN_PATH.length))
  return handler({ request, url, params }, ports)
}

function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

function notTheAdmin(headers: Headers): GatewayError {
  const sentence = headers.has('authorization')
    ? 'This is not the admin key.'
    : 'The admin API needs the admin key. Send it as "Authorization: Bearer <admin key>".'
  return new GatewayError('invalid_api_key', sentence, { shouldRetry: false })
}
