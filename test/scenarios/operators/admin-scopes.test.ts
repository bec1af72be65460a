import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adminScopes, type AdminScope } from '../../../src/domain/admin/admin-token.ts'
import { routes } from '../../../src/http/admin/routes.ts'
import { adminDocument } from '../../../src/http/description/document.ts'
import { ADMIN_KEY, startTestGateway, type TestGateway } from '../../support/gateway.ts'

const METRICS_KEY = 'key-for-prometheus'

let gateway: TestGateway
const tokens = new Map<AdminScope, string>()

beforeAll(async () => {
  gateway = await startTestGateway({ environment: { TOLLGATE_METRICS_KEY: METRICS_KEY } })
  for (const scope of adminScopes) {
    const limit = scope === 'grants' ? { grants_per_day_usd: '10' } : {}
    const { token } = await gateway.admin<{ token: string }>('POST', 'tokens', {
      name: scope,
      scopes: [scope],
      ...limit,
    })
    tokens.set(scope, token)
  }
})
afterAll(() => gateway.stop())

/** A method of a path, with the scopes that the document names. */
type Described = { readonly method: string; readonly path: string; readonly scopes: readonly string[] }

const described: readonly Described[] = Object.entries(adminDocument().paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security }]) => ({
    method: method.toUpperCase(),
    path,
    scopes: security.flatMap(way => way['admin'] ?? []),
  })),
)
const operations = [...described, { method: 'GET', path: '/metrics', scopes: ['metrics'] }]

async function codeOf({ method, path }: Described, key: string): Promise<{ status: number; code?: string }> {
  // Nothing has this name, so an admitted request changes nothing.
  const url = gateway.url + path.replace(/\{\w+\}/g, 'nothing-has-this-name')
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })
  const { status } = response
  const text = await response.text()
  if (status === 200) return { status }
  return { status, code: (JSON.parse(text) as { error: { code: string } }).error.code }
}

describe('each route of the admin API and the metrics, with each scope', () => {
  test.each(
    operations.flatMap(operation =>
      adminScopes.map(scope => [operation.method, operation.path, scope, operation] as const),
    ),
  )(
    '%s %s admits a token with the scope %s only as its description says',
    async (_, __, scope, operation) => {
      const { status, code } = await codeOf(operation, tokens.get(scope)!)

      const isAdmitted = scope === 'all' || operation.scopes.includes(scope)
      if (isAdmitted) expect([401, 403]).not.toContain(status)
      else expect({ status, code }).toEqual({ status: 403, code: 'missing_scope' })
    },
  )

  test.each(operations.map(operation => [operation.method, operation.path, operation] as const))(
    '%s %s refuses a request without the admin key or a token, and admits the admin key',
    async (_, __, operation) => {
      const refused = await codeOf(operation, 'another-key')
      const admitted = await codeOf(operation, ADMIN_KEY)

      expect(refused).toEqual({ status: 401, code: 'invalid_api_key' })
      expect([401, 403]).not.toContain(admitted.status)
    },
  )

  test('each method of each route has a scope, and the document names it', () => {
    const routed = routes.flatMap(({ path, methods }) =>
      Object.entries(methods).map(([method, { scopes }]) => ({
        method,
        path: `/admin/api/${path.replace('...}', '}')}`,
        scopes: [...scopes],
      })),
    )

    expect(described).toEqual(expect.arrayContaining(routed))
    expect(described.length).toBe(routed.length + 1)
    expect(described.filter(({ scopes }) => scopes.length === 0)).toEqual([])
  })
})

describe('the scopes of routes', () => {
  const open = (isWanted: (operation: Described) => boolean) =>
    operations.filter(isWanted).map(({ method, path }) => `${method} ${path.replace('/admin/api/', '')}`)

  test('a token without the scope all changes nothing but the credit of an account', () => {
    const others = open(({ method, scopes }) => method !== 'GET' && !scopes.includes('all'))

    expect(others.toSorted()).toEqual(['POST accounts/{account}/grants', 'POST keys/find'])
  })

  test('the scope read reads everything but tokens, users and metrics', () => {
    const closed = open(({ method, scopes }) => method === 'GET' && !scopes.includes('read'))

    expect(closed.toSorted()).toEqual([
      'GET /metrics',
      'GET tokens',
      'GET tokens/{token}',
      'GET users',
      'GET users/{user}',
      'GET users/{user}/sessions',
    ])
  })

  test('the scope grants reads only accounts, and the scope metrics reads only the metrics', () => {
    expect(open(({ scopes }) => scopes.includes('grants')).toSorted()).toEqual([
      'GET accounts',
      'GET accounts/{account}',
      'POST accounts/{account}/grants',
    ])
    expect(open(({ scopes }) => scopes.includes('metrics'))).toEqual(['GET /metrics'])
  })
})

test('a token with several scopes has the rights of each, and no others', async () => {
  const { token } = await gateway.admin<{ token: string }>('POST', 'tokens', {
    name: 'several',
    scopes: ['metrics', 'read'],
  })
  const statusOf = async (method: string, path: string) =>
    (await codeOf({ method, path, scopes: [] }, token)).status

  expect(await statusOf('GET', '/metrics')).toBe(200)
  expect(await statusOf('HEAD', '/admin/api/accounts')).toBe(200)
  expect(await statusOf('POST', '/admin/api/reconcile')).toBe(403)
})

test('the key for the metrics still reads the metrics, and nothing else', async () => {
  const of = (path: string) => codeOf({ method: 'GET', path, scopes: [] }, METRICS_KEY)

  expect(await of('/metrics')).toEqual({ status: 200 })
  expect(await of('/admin/api/accounts')).toEqual({ status: 401, code: 'invalid_api_key' })
})
