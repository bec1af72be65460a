import { GatewayError } from '../domain/errors.ts'
import type { Endpoint } from './endpoint.ts'
import type { Handler } from './request-context.ts'
import { plainReplies, type ReplyStyle } from './reply-style.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One path of the closed table. A path that ends in `/*` stands for everything below it. */
export type Route = {
  readonly path: string
  /** The name in logs and metrics. */
  readonly name: string
  readonly methods: Partial<Record<Method, Handler>>
  /** Plain, where it is not told. */
  readonly style?: ReplyStyle
}

/** Finds what answers a request. What is in no route is answered as well, with 404 or 405. */
export type FindEndpoint = (method: string, path: string) => Endpoint

type Endpoints = ReadonlyMap<string, Endpoint>

/** A path is compared as it was sent, so that two spellings of it are never two things to two readers. */
export function routeTable(routes: readonly Route[]): FindEndpoint {
  const exact = new Map<string, Endpoints>()
  const below: { readonly start: string; readonly endpoints: Endpoints }[] = []
  for (const route of routes) {
    const endpoints = endpointsOf(route)
    if (route.path.endsWith('/*')) below.push({ start: route.path.slice(0, -1), endpoints })
    else exact.set(route.path, endpoints)
  }
  return (method, path) => {
    const endpoints = exact.get(path) ?? below.find(({ start }) => path.startsWith(start))?.endpoints
    return endpoints?.get(method) ?? notRouted({ method, path, endpoints, style: styleAt(path, routes) })
  }
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

/** Whose clients would ask for this path: those of the route at it, or of the one that it begins with. */
function styleAt(path: string, routes: readonly Route[]): ReplyStyle {
  const nearest = routes.find(route => path === route.path || path.startsWith(`${route.path}/`))
  return nearest?.style ?? plainReplies
}

type Unrouted = {
  readonly method: string
  readonly path: string
  /** Undefined where there is no such path. */
  readonly endpoints: Endpoints | undefined
  readonly style: ReplyStyle
}

function notRouted({ style, ...asked }: Unrouted): Endpoint {
  const handle = () => {
    throw refusal(asked)
  }
  return { route: 'none', handle, style }
}

/** A client can ask for a path of any length; the error repeats only this much of it. */
const PATH_SHOWN_MAX = 200

/** 404, or 405 naming the methods that the path takes. */
function refusal({ method, path, endpoints }: Omit<Unrouted, 'style'>): GatewayError {
  const shown = path.slice(0, PATH_SHOWN_MAX)
  // A POST below /v1/ is either on the closed list or it does not exist, whatever else the path answers to.
  const isHidden = method === 'POST' && path.startsWith('/v1/')
  if (endpoints === undefined || isHidden) {
    return new GatewayError('not_found', `There is no ${method} ${shown} here.`, { shouldRetry: false })
  }
  const allow = [...endpoints.keys()].filter(name => name !== 'HEAD')
  if (endpoints.has('HEAD')) allow.push('HEAD')
  const message = `${shown} does not take ${method}; it takes ${allow.join(', ')}.`
  return new GatewayError('method_not_allowed', message, { allow: allow.join(', ') })
}
