import { GatewayError } from '../domain/errors.ts'
import type { Handler } from './request-context.ts'
import type { ReplyStyle } from './reply-style.ts'
import { requestUrl } from './request-url.ts'

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

/** What answers a path or method that is not in the table: 404, or 405 naming the methods that are. */
export function notRouted(routes: readonly Route[]): Handler {
  return ({ request }) => {
    const { pathname } = requestUrl(request)
    const route = routes.find(({ path }) => matches(path, pathname))
    // A POST below /v1/ is either on the closed list or it does not exist, whatever else the path answers to.
    const isHidden = request.method === 'POST' && pathname.startsWith('/v1/')
    if (route === undefined || isHidden) {
      throw new GatewayError('not_found', `There is no ${request.method} ${pathname} here.`, {
        shouldRetry: false,
      })
    }
    const allowed = Object.keys(route.methods)
    if (allowed.includes('GET')) allowed.push('HEAD')
    const message = `${pathname} does not take ${request.method}; it takes ${allowed.join(', ')}.`
    throw new GatewayError('method_not_allowed', message, { allow: allowed.join(', ') })
  }
}

function matches(path: string, pathname: string): boolean {
  return path.endsWith('/*') ? pathname.startsWith(path.slice(0, -1)) : pathname === path
}
