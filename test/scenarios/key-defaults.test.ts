import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ADMIN_KEY, startTestGateway, type TestGateway } from '../support/gateway.ts'

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
    })
    expect(ofAccount.body['key_defaults']).toEqual({
      limits: { ...NO_LIMITS, requests_per_minute: 30 },
      budgets: NO_BUDGETS,
    })
    expect(created.body).toMatchObject({ name: 'laptop', ...terms })
    expect(shown.body).toMatchObject(terms)
    expect((await admin('GET', 'key-defaults')).body).toEqual({ limits: NO_LIMITS, budgets: NO_BUDGETS })
  })

  test('defaults of an account are removed by null', async () => {
    await admin('POST', 'accounts', { name: 'ada' })
    await admin('PATCH', 'accounts/ada', { key_defaults: { budgets: { day: '1' } } })

    await admin('PATCH', 'accounts/ada', { key_defaults: null })

    const { body } = await admin('GET', 'accounts/ada')
    expect(body['key_defaults']).toEqual({ limits: NO_LIMITS, budgets: NO_BUDGETS })
  })

  test.each<[string, string, object, string, string]>([
    ['PATCH', 'key-defaults', {}, 'limits', 'changes nothing'],
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
      { key_defaults: { models: [] } },
      'key_defaults.models',
      'is not a field of the defaults of new keys',
    ],
    ['POST', 'accounts/ada/keys', { budgets: { day: '-1' } }, 'budgets.day', 'write a decimal string'],
  ])('defaults refuse %s %s with %j', async (method, path, body, param, message) => {
    await admin('POST', 'accounts', { name: 'ada' })

    const refused = await admin(method, path, body)

    const error = refused.body['error'] as { message: string; param: string }
    expect(refused.status).toBe(400)
    expect(error.param).toBe(param)
    expect(error.message).toContain(message)
  })
})
