import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { roles, type Role } from '../../../src/domain/admin/user.ts'
import { routes } from '../../../src/http/admin/routes.ts'
import { aVisitor, outcomeOf, type Visitor } from '../../support/console.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

let gateway: TestGateway
const visitors = new Map<Role, Visitor>()
beforeAll(async () => {
  // No day ends between two grants.
  gateway = await startTestGateway({ overrides: { clock: fakeClock() } })
  for (const role of roles) {
    const grants = role === 'support' ? { grants_per_day_usd: '10' } : {}
    visitors.set(role, await aVisitor(gateway, { role, ...grants }))
  }
})
afterAll(() => gateway.stop())

/** What a role may do, in words that do not come from the table of routes. */
function mayCall(role: Role, method: string, path: string): boolean {
  const isOfOwners =
    /^(?:users|tokens)(?:\/|$)/.test(path) ||
    (method !== 'GET' && /^(?:providers\/\{provider\}|catalog(?:\/rollback)?)$/.test(path))
  if (role === 'owner') return true
  if (isOfOwners) return false
  if (role === 'operator' || method === 'GET' || path === 'keys/find') return true
  return role === 'support' && path === 'accounts/{account}/grants'
}

const operations = routes.flatMap(({ path, methods }) =>
  Object.keys(methods).map(method => ({ method, path })),
)

describe('each route of the admin API by the console, with each role', () => {
  test.each(
    operations.flatMap(({ method, path }) =>
      roles.map(role => [method, path, role, mayCall(role, method, path)] as const),
    ),
  )('%s %s for the role %s: %p', async (method, path, role, isAllowed) => {
    // Nothing has this name, so an admitted request changes nothing.
    const named = path.replaceAll(/\{[\w.]+\}/g, 'nothing-has-this-name')

    const outcome = await outcomeOf(await visitors.get(role)!.call(method, `admin/${named}`))

    if (isAllowed) expect(outcome).not.toMatch(/^40[13]/)
    else expect(outcome).toBe('403 role_not_allowed')
  })

  test.each(operations)('$method $path needs a session', async ({ method, path }) => {
    const url = `${gateway.url}/console/api/admin/${path.replaceAll(/\{[\w.]+\}/g, 'x')}`

    const reply = await fetch(url, { method, headers: { origin: gateway.url } })

    expect(await outcomeOf(reply)).toBe('401 not_signed_in')
  })
})

test('support gives grants up to the amount of a day, whichever session gives them', async () => {
  const { id } = await gateway.account({ grant: '0' })
  const support = visitors.get('support')!

  const given = await support.call('POST', `admin/accounts/${id}/grants`, { amount_usd: '8' })
  const refused = await support.call('POST', `admin/accounts/${id}/grants`, { amount_usd: '2.000000001' })
  const user = await gateway.admin<object>('GET', 'users/support@example.com')

  expect(given.status).toBe(200)
  expect(await refused.json()).toMatchObject({
    error: { code: 'grants_per_day_exceeded', message: expect.stringMatching(/^You may grant 10 USD a day/) },
    remaining_usd: '2',
  })
  expect(user).toMatchObject({ granted_today_usd: '8' })
})

test('support without an amount a day gives no grants', async () => {
  const { id } = await gateway.account({ grant: '0' })
  const support = await aVisitor(gateway, { role: 'support', email: 'none@example.com' })

  const reply = await support.call('POST', `admin/accounts/${id}/grants`, { amount_usd: '0.01' })

  expect(await outcomeOf(reply)).toBe('403 grants_per_day_exceeded')
})

test('the last owner who can sign in stays an owner', async () => {
  const owner = visitors.get('owner')!
  // An owner who was only invited cannot sign in.
  await gateway.admin('POST', 'users', { email: 'invited@example.com', role: 'owner' })

  const demoted = await owner.call('PATCH', 'admin/users/owner@example.com', { role: 'viewer' })
  const disabled = await owner.call('PATCH', 'admin/users/owner@example.com', { disabled: true })

  expect([await outcomeOf(demoted), await outcomeOf(disabled)]).toEqual(['409 last_owner', '409 last_owner'])
})
