import { afterAll, beforeAll, expect, test } from 'bun:test'
import { aVisitor, outcomeOf, type Visitor } from '../../../../test/support/console.ts'
import { ADMIN_KEY, startTestGateway, type TestGateway } from '../../../../test/support/gateway.ts'
import { main } from '../../main.ts'

let gateway: TestGateway
let ada: Visitor
beforeAll(async () => {
  gateway = await startTestGateway()
  ada = await aVisitor(gateway, { role: 'owner', email: 'ada@example.com' })
})
afterAll(() => gateway.stop())

type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Runs a command on the gateway. */
async function tollgate(...args: string[]): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await main(args, {
    version: '0.0.0',
    environment: { TOLLGATE_DATA_DIR: gateway.dataDir, TOLLGATE_ADMIN_KEY: ADMIN_KEY },
    loadApp: () => import('../../../app.ts'),
    out: text => (out += text),
    err: text => (err += text),
  })
  return { code, out, err }
}

test('users invite prints only the link, and users link a new one', async () => {
  const invited = await tollgate('users', 'invite', 'ben@example.com', '--role', 'viewer', '--name', 'Ben')
  const linked = await tollgate('users', 'link', 'ben@example.com')

  for (const { out } of [invited, linked]) expect(out.trim()).toMatch(/^http:\S+\/console\/#link=[\w-]{43}$/)
  expect(linked.out).not.toBe(invited.out)
  expect(invited.err).toContain('With this link, ben@example.com sets a password. It works once, until 20')
})

test('users list and users show print what is known of users', async () => {
  const invite = ['users', 'invite', 'cy@example.com', '--role', 'support', '--grants-per-day', '12.5']
  await tollgate(...invite)

  const listed = await tollgate('users', 'list')
  const shown = await tollgate('users', 'show', 'cy@example.com')

  expect(listed.out).toMatch(/^ada@example\.com +usr_\w+ +ada@example\.com +owner +active +20\S+Z$/m)
  expect(listed.out).toMatch(/^cy@example\.com +usr_\w+ +cy@example\.com +support +invited +never$/m)
  expect(shown.out).toMatch(/^grants a day +12\.5 USD, of which 0 USD are given today$/m)
  expect(shown.out).toMatch(/^signs in with +nothing yet$/m)
})

test('users set changes the role, the name and the limit, and disables and enables a user', async () => {
  await tollgate('users', 'invite', 'dee@example.com', '--role', 'support', '--grants-per-day', '5')
  const set = (...flags: string[]) => tollgate('users', 'set', 'dee@example.com', ...flags)

  const unlimited = await set('--grants-per-day', 'none', '--name', 'Dee')
  const shown = await tollgate('users', 'show', 'dee@example.com')
  const disabled = await set('--disable')
  const enabled = await set('--enable', '--role', 'operator')

  expect(unlimited.code).toBe(0)
  expect(shown.out).toMatch(/^name +Dee$/m)
  expect(shown.out).toMatch(/^grants a day +none$/m)
  expect(disabled.out).toMatch(/^dee@example\.com \(usr_\w+\) is support, disabled\.$/m)
  expect(enabled.out).toMatch(/^dee@example\.com \(usr_\w+\) is operator, invited\.$/m)
})

test('users sessions lists where a user is signed in, and users sign-out ends it', async () => {
  const listed = await tollgate('users', 'sessions', 'ada@example.com')
  const ended = await tollgate('users', 'sign-out', 'ada@example.com')
  const after = await tollgate('users', 'sessions', 'ada@example.com')

  expect(listed.out).toMatch(/^ses_\w+ +127\.0\.0\.1 /m)
  expect(ended.out.trim()).toBe('ada@example.com is signed out everywhere. Sessions that ended: 1.')
  expect(after.out.trim()).toBe('ada@example.com is not signed in.')
  expect(await outcomeOf(await ada.call('GET', 'session'))).toBe('401 not_signed_in')
})

test.each([
  [['users', 'invite', 'eve@example.com'], 2, '--role'],
  [
    ['users', 'invite', 'eve@example.com', '--role', 'boss'],
    2,
    'Write one of owner, operator, support, viewer.',
  ],
  [['users', 'invite', 'ada@example.com', '--role', 'viewer'], 1, 'There is already a user'],
  [['users', 'invite', 'eve', '--role', 'viewer'], 2, '<email> must be an e-mail address'],
  [['users', 'set', 'ada@example.com', '--role', 'viewer'], 1, 'is the only owner who can sign in'],
  [['users', 'set', 'ada@example.com', '--grants-per-day', '5'], 2, 'needs the role "support"'],
  [['users', 'set', 'ada@example.com', '--disable', '--enable'], 2, 'cannot be used with'],
  [['users', 'show', 'nobody@example.com'], 1, 'There is no such user'],
])('%j is refused', async (args, code, message) => {
  const ran = await tollgate(...args)

  expect([ran.code, ran.out]).toEqual([code, ''])
  expect(ran.err).toContain(message)
})
