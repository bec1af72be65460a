import { adminScopes, type AdminScope } from '../../domain/admin/admin-token.ts'
import { roles, type Role } from '../../domain/admin/user.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { AdminHandler } from './call.ts'

/**
 * One path below the admin API, such as `accounts/{account}/keys`. A parameter in braces matches one segment. A
 * parameter with dots matches all following segments: `models/{model...}`, because the id of a model may contain
 * slashes.
 */
export type AdminRoute = {
  readonly path: string
  readonly methods: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', AdminEndpoint>>>
}

/** A method of a path. An admin token needs one of the scopes, and a user one of the roles. */
export type AdminEndpoint = {
  readonly scopes: readonly [AdminScope, ...AdminScope[]]
  readonly roles: readonly [Role, ...Role[]]
  readonly handler: AdminHandler
}

/** The handler of a request with the scopes and roles that it needs, and the parameters of its path. */
export type MatchedRoute = {
  readonly handler: AdminHandler
  /** One of them is enough. */
  readonly scopes: readonly AdminScope[]
  /** One of them is enough. */
  readonly roles: readonly Role[]
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>
}

/** Throws `not_found` for an unknown path, and `method_not_allowed` with the allowed methods for another method. */
export function matchRoute(routes: readonly AdminRoute[], method: string, path: string): MatchedRoute {
  const segments = path.split('/')
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const route of routes) {
    const params = paramsOf(route.path.split('/'), segments)
    if (params === undefined) continue
    const endpoint = Object.entries(route.methods).find(([name]) => name === wanted)?.[1]
    if (endpoint !== undefined) return { ...endpoint, params }
    const allow = Object.keys(route.methods).join(', ').replace('GET', 'GET, HEAD')
    if (method === 'OPTIONS')
      return {
        handler: async () => ({ status: 204, headers: { allow }, body: null }),
        scopes: adminScopes,
        roles,
        params,
      }
    throw new GatewayError('method_not_allowed', `This path does not support ${method}. Use ${allow}.`, {
      allow,
    })
  }
  throw new GatewayError('not_found', 'The admin API does not have this path.', { shouldRetry: false })
}

function paramsOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  const takesRest = pattern.at(-1)?.endsWith('...}') ?? false
  if (takesRest ? segments.length < pattern.length : segments.length !== pattern.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    if (!part.startsWith('{')) {
      if (segments[index] !== part) return undefined
      continue
    }
    const isRest = part.endsWith('...}')
    const text = decoded(isRest ? segments.slice(index).join('/') : (segments[index] ?? ''))
    if (text === undefined || text === '') return undefined
    params[part.replace(/^\{|(\.\.\.)?\}$/g, '')] = text
  }
  return params
}

/** Undefined for an invalid percent escape. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
