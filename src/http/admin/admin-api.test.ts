import { afterAll, describe, expect, test } from 'bun:test'
import { openAdminCalls, type Answer } from '../../../test/support/admin-calls.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { systemClock } from '../../app/system-clock.ts'
import type { Bytes } from '../../domain/bytes.ts'
import { GatewayError } from '../../domain/errors.ts'
import { bodyMemory } from '../../gateway/byte-budgets/body-budgets.ts'
import { adminAccess, adminKeyCheck } from './admin-access.ts'
import { localRequest, adminApi } from './admin-api.ts'
import type { RequestContext } from '../request-context.ts'
import type { AdminPorts } from './ports.ts'

const LITERAL = 'sk-literal-secret'
const PROVIDER = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: LITERAL }
const MODEL = {
  kind: 'chat',
  upstreams: [{ provider: 'main', model: 'x-1' }],
  pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
  max_output_tokens: 1000,
}

const { send, ok, close } = await openAdminCalls()
afterAll(close)

describe('every route', () => {
  test('every change writes a row to the audit log', async () => {
    await ok('POST', 'accounts', { name: 'audited' })
    await ok('POST', 'accounts/audited/grants', { amount_usd: '1' })
    const key = await ok('POST', 'accounts/audited/keys')
    await ok('POST', `keys/${key.id}/revoke`)
    await ok('PUT', 'providers/audited', PROVIDER)
    await ok('PUT', 'models/audited', { ...MODEL, upstreams: [{ provider: 'audited', model: 'x' }] })
    await ok('PATCH', 'models/audited', { enabled: false })
    await ok('DELETE', 'models/audited')
    await ok('DELETE', 'providers/audited')

    // The gateway itself writes one line after its first anchor, at any time.
    const { data: all } = await ok('GET', 'audit?limit=10')
    const data = all.filter(({ actor }) => actor === 'admin').slice(0, 9)

    expect(data.map(({ action }) => action)).toEqual([
      'provider.delete',
      'model.delete',
      'model.off',
      'model.put',
      'provider.put',
      'key.revoke',
      'key.create',
      'account.grant',
      'account.create',
    ])
    const details = Object.fromEntries(data.map(line => [line['action'], line['detail']]))
    expect(details).toMatchObject({
      'account.grant': expect.stringMatching(/^1 USD by op_\w+$/),
      'model.off': expect.stringMatching(/^{"enabled":false,"pricing":/),
      'key.create': null,
    })
  })

  test('doctor reports the checks and the settings, without secrets', async () => {
    await ok('PUT', 'providers/main', PROVIDER)

    const report = await ok('GET', 'doctor')

    expect(report['checks']).toContainEqual({ name: 'store', ok: true, detail: 'The store can be read.' })
    expect(report['checks']).toContainEqual({
      name: 'provider main',
      ok: false,
      detail: expect.stringContaining('Does not respond'),
    })
    expect(report['settings']).toContainEqual({
      name: 'TOLLGATE_PORT',
      value: expect.any(String),
      default: '8787',
      is_set: expect.any(Boolean),
    })
    expect(JSON.stringify(report)).not.toContain(LITERAL)
  })

  test.each([
    ['DELETE', 'accounts', 'GET, HEAD, POST'],
    ['POST', 'models/gpt-x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['GET', 'reconcile', 'POST'],
  ])('%s %s is 405 with the allowed methods', async (method, path, allow) => {
    const response = await send(method, path)

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
  })

  test.each<[string, string | Bytes, number, string]>([
    ['half a JSON', '{"name": ', 400, 'invalid_json'],
    ['a list', '["name"]', 400, 'invalid_json'],
    ['a control character', '\u000b', 400, 'invalid_json'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid_json'],
    ['more than 8 MB', 'x'.repeat((8 << 20) + 1), 413, 'request_too_large'],
  ])('a body of %s is refused', async (_, body, status, code) => {
    const response = await send('POST', 'accounts', body)
    const { error } = (await response.json()) as Answer

    expect(response.status).toBe(status)
    expect(error.code).toBe(code)
  })
})

describe('the admin key', () => {
  const handler = adminApi(
    {} as AdminPorts,
    adminAccess('right-key', {} as AdminPorts),
    bodyMemory(128 << 20, systemClock),
  )

  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['another key', { authorization: 'Bearer wrong-key' }],
    ['the key with a suffix', { authorization: 'Bearer right-key2' }],
    ['the key in another scheme', { authorization: 'Basic right-key' }],
    ['the key in another header', { 'x-api-key': 'right-key' }],
  ])('a request with %s is refused before it is read', async (_, headers) => {
    const request = localRequest(new Request('http://localhost/admin/api/nothing', { headers }))

    const refused = await rejection(handler({ request } as RequestContext))

    expect(refused).toMatchObject({ code: 'invalid_api_key' })
  })

  test('a request with the key reaches the routes', async () => {
    const headers = { authorization: 'bearer right-key' }
    const request = localRequest(new Request('http://localhost/admin/api/nothing', { headers }))

    const refused = await rejection(handler({ request } as RequestContext))

    expect(refused).toBeInstanceOf(GatewayError)
    expect(refused).toMatchObject({ code: 'not_found' })
    expect(adminKeyCheck('right-key')(request)).toBe(true)
  })
})
