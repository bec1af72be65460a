import { GatewayError } from '../domain/errors.ts'
import type { Handler } from './request-context.ts'
import { plainReplies, type ReplyStyle } from './reply-style.ts'
import { helpForPath, withVersion } from './unserved-paths.ts'

/** The handler of one path and method. */
export type Endpoint = {
  /** The name of the route, such as `chat`. The path is not used, because clients can make up any number of paths. */
  readonly route: string
  readonly handle: Handler
  readonly style: ReplyStyle
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One path. A `*` matches any text. Exact paths come first, and then the first path that matches.
 */
export type Route = {
  readonly path: string
  /** The name in logs and metrics. */
  readonly name: string
  readonly methods: Partial<Record<Method, Handler>>
  /** The default is `plainReplies`. */
  readonly style?: ReplyStyle
}

/** Finds the endpoint of a request. For an unknown path or method it returns one that answers 404 or 405. */
export type FindEndpoint = (method: string, path: string) => Endpoint

type Endpoints = ReadonlyMap<string, Endpoint>

/**
 * Paths are compared as they were sent, without decoding, so that a proxy and the gateway cannot read one differently.
 */
export function routeTable(routes: readonly Route[]): FindEndpoint {
  const exact = new Map<string, Endpoints>()
  const patterns: { readonly matches: (path: string) => boolean; readonly endpoints: Endpoints }[] = []
  for (const route of routes) {
    const endpoints = endpointsOf(route)
    if (route.path.includes('*')) patterns.push({ matches: matcherOf(route.path), endpoints })
    else exact.set(route.path, endpoints)
  }
  return (method, path) => {
    const endpoints = exact.get(path) ?? patterns.find(({ matches }) => matches(path))?.endpoints
    const found = endpoints?.get(method)
    if (found !== undefined) return found
    const help = () => helpForPath(method, path, pathsWith(method, exact))
    return notRouted({ method, path, endpoints, help, style: styleAt(withVersion(path), routes) })
  }
}

function pathsWith(method: string, exact: ReadonlyMap<string, Endpoints>): ReadonlySet<string> {
  return new Set([...exact].filter(([, endpoints]) => endpoints.has(method)).map(([path]) => path))
}

function matcherOf(pattern: string): (path: string) => boolean {
  const [start = '', end = ''] = pattern.split('*')
  return path => path.length >= start.length + end.length && path.startsWith(start) && path.endsWith(end)
}

function endpointsOf({ name, methods, style = plainReplies }: Route): Endpoints {
  const endpoints = new Map<string, Endpoint>()
  for (const [method, handle] of Object.entries(methods)) {
    const endpoint = { route: name, handle, style }
    endpoints.set(method, endpoint)
    if (method === 'GET') endpoints.set('HEAD', endpoint)
  }
  return endpoints
}

/** The style of the route at this path or above it, because the client expects errors in that style. */
function styleAt(path: string, routes: readonly Route[]): ReplyStyle {
  const nearest = routes.find(route => path === route.path || path.startsWith(`${route.path}/`))
  return nearest?.style ?? plainReplies
}

type Unrouted = {
  readonly method: string
  readonly path: string
  /** Undefined for an unknown path. */
  readonly endpoints: Endpoints | undefined
  /** A sentence about what to use instead. Empty for none. */
  readonly help: () => string
  readonly style: ReplyStyle
}

function notRouted({ style, ...request }: Unrouted): Endpoint {
  return { route: 'none', handle: () => Promise.reject(refusal(request)), style }
}

/** How much of a path an error message repeats. */
const PATH_SHOWN_MAX = 200

/** 404, or 405 with the methods that the path supports. */
function refusal({ method, path, endpoints, help }: Omit<Unrouted, 'style'>): GatewayError {
  const shown = path.slice(0, PATH_SHOWN_MAX)
  // The API contract wants 404 for every other POST below /v1/, even if the path supports other methods.
  const isHidden = method === 'POST' && path.startsWith('/v1/')
  if (endpoints === undefined || isHidden) {
    const message = `No route matches ${method} ${shown}. ${help()}`.trimEnd()
    return new GatewayError('not_found', message, { shouldRetry: false })
  }
  const allow = [...endpoints.keys()].filter(name => name !== 'HEAD')
  if (endpoints.has('HEAD')) allow.push('HEAD')
  const message = `${shown} does not support ${method}. Supported methods: ${allow.join(', ')}.`
  return new GatewayError('method_not_allowed', message, { allow: allow.join(', ') })
}
