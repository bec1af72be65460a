import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ADMIN_KEY, startTestGateway, type TestGateway } from '../../support/gateway.ts'

let gateway: TestGateway

beforeEach(async () => {
  gateway = await startTestGateway()
})
afterEach(() => gateway.stop())

async function admin(method: string, path: string, body?: object) {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const NO_LIMITS = { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null }
const NO_BUDGETS = { day: null, week: null, month: null, total: null }
const NO_SETTINGS = { models: null, routes: null, expires_in: null, allowed_addresses: null }
const NO_DEFAULTS = { limits: NO_LIMITS, budgets: NO_BUDGETS, ...NO_SETTINGS }

describe('defaults for new keys', () => {
  test('defaults of the account, of the gateway and of the request make the limits of a new key, which it sees', async () => {
    await admin('POST', 'accounts', { name: 'ada' })
    const ofGateway = await admin('PATCH', 'key-defaults', {
      limits: { requests_per_minute: 60, concurrent_requests: 5 },
      budgets: { day: '1' },
    })
    const ofAccount = await admin('PATCH', 'accounts/ada', {
      key_defaults: { limits: { requests_per_minute: 30 } },
    })

    const created = await admin('POST', 'accounts/ada/keys', {
      name: 'laptop',
      limits: { concurrent_requests: null },
      budgets: { month: '20' },
    })
    await admin('PATCH', 'key-defaults', { limits: null, budgets: null })
    const shown = await admin('GET', `keys/${String(created.body['id'])}`)

    const terms = {
      limits: { ...NO_LIMITS, requests_per_minute: 30 },
      budgets: { ...NO_BUDGETS, day: '1', month: '20' },
      per_model: {},
    }
    expect(ofGateway.body).toEqual({
      limits: { ...NO_LIMITS, requests_per_minute: 60, concurrent_requests: 5 },
      budgets: { ...NO_BUDGETS, day: '1' },
      ...NO_SETTINGS,
      warnings: [],
    })
    expect(ofAccount.body['key_defaults']).toEqual({
      limits: { ...NO_LIMITS, requests_per_minute: 30 },
      budgets: NO_BUDGETS,
      ...NO_SETTINGS,
    })
    expect(created.body).toMatchObject({ name: 'laptop', ...terms })
    expect(shown.body).toMatchObject(terms)
    expect((await admin('GET', 'key-defaults')).body).toEqual(NO_DEFAULTS)
  })

  test('a new key begins with the settings of the defaults, and expires after their time', async () => {
    await admin('POST', 'accounts', { name: 'ada' })
    const settings = { models: ['gpt-*'], routes: ['images'], allowed_addresses: ['10.0.0.0/8'] }
    await admin('PATCH', 'key-defaults', { ...settings, expires_in: 86_400 })
    const ofAccount = await admin('PATCH', 'accounts/ada', {
      key_defaults: { models: ['claude-*'], expires_in: 3600 },
    })

    const { body } = await admin('POST', 'accounts/ada/keys')
    const own = await admin('POST', 'accounts/ada/keys', {
      models: null,
      expires_at: null,
      routes: ['videos'],
    })

    const lifetimeMs = Date.parse(String(body['expires_at'])) - Date.parse(String(body['created_at']))
    expect(ofAccount.body['key_defaults']).toEqual({ ...NO_DEFAULTS, models: ['claude-*'], expires_in: 3600 })
    expect(body).toMatchObject({ ...settings, models: ['claude-*'] })
    expect(lifetimeMs).toBe(3_600_000)
    expect(own.body).toMatchObject({ ...settings, models: null, expires_at: null, routes: ['videos'] })
  })

  test('defaults of an account are removed by null', async () => {
    await admin('POST', 'accounts', { name: 'ada' })
    await admin('PATCH', 'accounts/ada', {
      key_defaults: { budgets: { day: '1' }, routes: ['images'], expires_in: 60 },
    })

    await admin('PATCH', 'accounts/ada', { key_defaults: null })

    const { body } = await admin('GET', 'accounts/ada')
    expect(body['key_defaults']).toEqual(NO_DEFAULTS)
  })

  test.each<[string, string, object, string, string]>([
    ['PATCH', 'key-defaults', {}, '', 'The body changes nothing. Its fields are limits, budgets, models, '],
    ['PATCH', 'key-defaults', { limits: { rpm: 1 } }, 'limits.rpm', 'did you mean requests_per_minute?'],
    [
      'PATCH',
      'key-defaults',
      { per_model: {} },
      'per_model',
      'set limits for a model on an account or on a key',
    ],
    [
      'PATCH',
      'accounts/ada',
      { key_defaults: { budgets: { day: 1 } } },
      'key_defaults.budgets.day',
      'write a decimal string',
    ],
    [
      'PATCH',
      'accounts/ada',
      { key_defaults: { expires_at: '2027-01-01T00:00:00Z' } },
      'key_defaults.expires_at',
      'is not a field of the defaults of new keys; did you mean expires_in?',
    ],
    [
      'PATCH',
      'accounts/ada',
      { key_defaults: { models: [] } },
      'key_defaults.models',
      'null for no restriction',
    ],
    ['PATCH', 'key-defaults', { expires_in: 0.5 }, 'expires_in', 'write a whole number of seconds'],
    ['PATCH', 'key-defaults', { allowed_addresses: ['10.0.0.1/8'] }, 'allowed_addresses[0]', '10.0.0.0/8'],
    ['POST', 'accounts/ada/keys', { budgets: { day: '-1' } }, 'budgets.day', 'write a decimal string'],
  ])('defaults refuse %s %s with %j', async (method, path, body, param, message) => {
    await admin('POST', 'accounts', { name: 'ada' })

    const refused = await admin(method, path, body)

    const error = refused.body['error'] as { message: string; param: string }
    expect(refused.status).toBe(400)
    expect(error.param ?? '').toBe(param)
    expect(error.message).toContain(message)
  })
})
