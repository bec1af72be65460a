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
  /** Without a handler of its own, `OPTIONS` answers with the methods. */
  readonly methods: Partial<Record<Method | 'OPTIONS', Handler>>
  /** The default is `plainReplies`. */
  readonly style?: ReplyStyle
}

export type RouteTable = {
  /** Finds the endpoint of a request. For an unknown path or method it returns one that answers 404 or 405. */
  readonly find: (method: string, path: string) => Endpoint
  /** The methods of a path, as in the header `Allow`. Undefined for an unknown path. */
  readonly methodsAt: (path: string) => string | undefined
}

type Endpoints = ReadonlyMap<string, Endpoint>

/**
 * Paths are compared as they were sent, without decoding, so that a proxy and the gateway cannot read one differently.
 */
export function routeTable(routes: readonly Route[]): RouteTable {
  const exact = new Map<string, Endpoints>()
  const patterns: { readonly matches: (path: string) => boolean; readonly endpoints: Endpoints }[] = []
  for (const route of routes) {
    const endpoints = endpointsOf(route)
    if (route.path.includes('*')) patterns.push({ matches: matcherOf(route.path), endpoints })
    else exact.set(route.path, endpoints)
  }
  const endpointsAt = (path: string) =>
    exact.get(path) ?? patterns.find(({ matches }) => matches(path))?.endpoints
  return {
    find(method, path) {
      const endpoints = endpointsAt(path)
      const found = endpoints?.get(method)
      if (found !== undefined) return found
      if (method === 'OPTIONS' && endpoints !== undefined) return optionsEndpoint(endpoints)
      const help = () => helpForPath(method, path, pathsWith(method, exact))
      return notRouted({ method, path, endpoints, help, style: styleAt(withVersion(path), routes) })
    },
    methodsAt(path) {
      const endpoints = endpointsAt(path)
      return endpoints && allowOf(endpoints)
    },
  }
}

function optionsEndpoint(endpoints: Endpoints): Endpoint {
  const reply = { status: 204, headers: { allow: allowOf(endpoints) }, body: null }
  return { route: 'options', handle: async () => reply, style: plainReplies }
}

/** The methods of a path, with `HEAD` after the others. `OPTIONS`, which every path has, is not listed. */
function allowOf(endpoints: Endpoints): string {
  const others = [...endpoints.keys()].filter(name => name !== 'HEAD' && name !== 'OPTIONS')
  return [...others, ...(endpoints.has('HEAD') ? ['HEAD'] : [])].join(', ')
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
  const allow = allowOf(endpoints)
  const message = `${shown} does not support ${method}. Supported methods: ${allow}.`
  return new GatewayError('method_not_allowed', message, { allow })
}
