import { expect, test } from 'bun:test'
import { GatewayError } from '../../domain/errors.ts'
import { matchRoute, type AdminRoute } from './match-route.ts'
import { adminReply } from './call.ts'

const handler = { scopes: ['read'], roles: ['viewer'], handler: async () => adminReply({}) } as const
const routes: readonly AdminRoute[] = [
  { path: 'models', methods: { GET: handler } },
  { path: 'models/{model...}', methods: { GET: handler, PATCH: handler } },
  { path: 'accounts/{account}/keys/{key}', methods: { DELETE: handler } },
]

test.each([
  ['GET', 'models', {}],
  ['HEAD', 'models', {}],
  ['GET', 'models/gpt-x', { model: 'gpt-x' }],
  ['GET', 'models/meta/x', { model: 'meta/x' }],
  ['PATCH', 'models/meta%2Fx%20y', { model: 'meta/x y' }],
  ['DELETE', 'accounts/a%2Fb/keys/key_1', { account: 'a/b', key: 'key_1' }],
])('%s %s matches its handler', (method, path, params) => {
  const matched = matchRoute(routes, method, path)

  expect(matched.params).toEqual(params)
})

test.each([
  ['GET', ''],
  ['GET', 'models/'],
  ['GET', 'model'],
  ['GET', 'models/%zz'],
  ['DELETE', 'accounts//keys/key_1'],
  ['DELETE', 'accounts/a/keys/key_1/more'],
])('%s %s is not found', (method, path) => {
  expect(codeOf(() => matchRoute(routes, method, path))).toBe('not_found')
})

test('another method is refused with the allowed methods', () => {
  const refusal = refusalOf(() => matchRoute(routes, 'POST', 'models/gpt-x'))

  expect(refusal?.code).toBe('method_not_allowed')
  expect(refusal?.extras.allow).toBe('GET, HEAD, PATCH')
})

test('a name that every object has is not a method of a route', () => {
  expect(codeOf(() => matchRoute(routes, 'constructor', 'models'))).toBe('method_not_allowed')
})

function codeOf(work: () => unknown): string | undefined {
  return refusalOf(work)?.code
}

function refusalOf(work: () => unknown): GatewayError | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return undefined
}
