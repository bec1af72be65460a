import type { IncomingRequest } from './incoming-request.ts'
import type { Endpoint } from './routes.ts'
import { plainReplies } from './reply-style.ts'

/** The origins of the web pages that may read replies, such as `https://app.example.com`; `*` for all. */
export type CorsOrigins = '*' | ReadonlySet<string>

export type CorsSettings = { readonly origins: CorsOrigins; readonly exposedHeaders: readonly string[] }

/** CORS applies only to these paths. Web pages do not need the admin API, and keys of customers do not work there. */
const SHARED_PATHS = '/v1/'
/** Of a path without a route, so that the page can read its 404. */
const METHODS = 'GET, HEAD, POST'
/** Browsers keep the answer to a preflight for at most two hours. */
const PREFLIGHT_AGE_S = 7200

type CorsRequest = Pick<IncomingRequest, 'path' | 'header'>

/**
 * Cross-origin resource sharing by the Fetch standard, for pages that call the API with a key of their user. Replies
 * never allow credentials: the API has no cookies.
 */
export class Cors {
  readonly #origins: CorsOrigins
  readonly #exposed: string

  constructor({ origins, exposedHeaders }: CorsSettings) {
    this.#origins = origins
    this.#exposed = exposedHeaders.join(', ')
  }

  /** Adds the headers that let the page read a reply. Adds nothing to the reply of a request without an origin. */
  addTo(headers: Record<string, string>, request: CorsRequest): void {
    const allowed = this.#allowedOrigin(request)
    if (allowed === undefined) return
    headers['access-control-allow-origin'] = allowed
    headers['access-control-expose-headers'] = this.#exposed
    if (allowed !== '*')
      headers['vary'] = headers['vary'] === undefined ? 'origin' : `${headers['vary']}, origin`
  }

  /**
   * The endpoint of a preflight request; undefined for any other request. It needs no key. `methodsAt` gives the
   * methods of a path.
   */
  preflight(
    request: CorsRequest & { readonly method: string },
    methodsAt: (path: string) => string | undefined,
  ): Endpoint | undefined {
    if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === null)
      return undefined
    if (this.#allowedOrigin(request) === undefined) return undefined
    const asked = request.header('access-control-request-headers')
    const headers = {
      'access-control-allow-methods': methodsAt(request.path) ?? METHODS,
      'access-control-max-age': String(PREFLIGHT_AGE_S),
      ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
    }
    const handle = async () => ({ status: 204, headers, body: null })
    return { route: 'preflight', handle, style: plainReplies }
  }

  #allowedOrigin(request: CorsRequest): string | undefined {
    const origin = request.header('origin')
    if (origin === null || !request.path.startsWith(SHARED_PATHS)) return undefined
    if (this.#origins === '*') return '*'
    return this.#origins.has(origin) ? origin : undefined
  }
}

/** The headers of replies that a page may read, beside those that every page may. */
export function exposedHeaders(own: readonly string[]): readonly string[] {
  const counted = ['requests', 'tokens']
  const rateLimits = ['limit', 'remaining', 'reset'].flatMap(figure =>
    counted.flatMap(unit => [`x-ratelimit-${figure}-${unit}`, `anthropic-ratelimit-${unit}-${figure}`]),
  )
  return [...own, 'x-request-id', 'request-id', 'retry-after', 'x-should-retry', ...rateLimits]
}
