import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import {
  aVisitor,
  callConsole,
  cookieIn,
  outcomeOf,
  PASSWORD,
  signIn,
  tokenIn,
  type Visitor,
} from '../../support/console.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.stop())

describe('signing in with a password', () => {
  test('an invited user sets a password with the link, is signed in, and can sign in again', async () => {
    const email = 'ada@example.com'
    const invited = await gateway.admin<{ link: string; state: string }>('POST', 'users', {
      email: 'Ada@Example.com',
      role: 'operator',
    })
    const token = tokenIn(invited.link)

    const read = await callConsole(gateway, 'POST', 'link', { body: { token } })
    const body = { token, name: 'Ada', password: PASSWORD }
    const used = await callConsole(gateway, 'PUT', 'link', { body })
    const again = await signIn(gateway, email)
    const session = await again.call('GET', 'session')

    expect(invited.state).toBe('invited')
    expect(await read.json()).toMatchObject({ kind: 'invitation', email, role: 'operator' })
    expect(used.headers.get('set-cookie')).toMatch(
      /^tollgate_session=[\w-]{43}; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    )
    expect(await session.json()).toMatchObject({
      user: { email, name: 'Ada', role: 'operator', has_totp: false, has_password: true },
      csrf_token: again.csrfToken,
    })
  })

  test('a link works once, and the name of its user is not told after that', async () => {
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: 'once@example.com',
      role: 'viewer',
    })
    const body = { token: tokenIn(link), password: PASSWORD }

    const first = await callConsole(gateway, 'PUT', 'link', { body })
    const second = await callConsole(gateway, 'PUT', 'link', { body })
    const read = await callConsole(gateway, 'POST', 'link', { body: { token: body.token } })

    expect(await outcomeOf(first)).toBe('200')
    expect(await outcomeOf(second)).toBe('410 link_ended')
    expect(await outcomeOf(read)).toBe('410 link_ended')
  })

  test('an unknown user, a wrong password, an invited user and a disabled one get the same answer', async () => {
    await aVisitor(gateway, { role: 'viewer', email: 'known@example.com' })
    await aVisitor(gateway, { role: 'viewer', email: 'disabled@example.com' })
    await gateway.admin('PATCH', 'users/disabled@example.com', { disabled: true })
    await gateway.admin('POST', 'users', { email: 'invited@example.com', role: 'viewer' })
    const tries = [
      { email: 'unknown@example.com', password: PASSWORD },
      { email: 'known@example.com', password: 'wrong' },
      { email: 'invited@example.com', password: PASSWORD },
      { email: 'disabled@example.com', password: PASSWORD },
    ]

    const answers = await Promise.all(
      tries.map(async body => {
        const reply = await callConsole(gateway, 'POST', 'session', { body })
        return [reply.status, await reply.text()]
      }),
    )

    expect(answers[0]).toEqual([401, expect.stringContaining('"wrong_credentials"')])
    for (const answer of answers) expect(answer).toEqual(answers[0]!)
  })

  test('signing out ends the session on the server', async () => {
    const visitor = await aVisitor(gateway, { role: 'viewer', email: 'out@example.com' })

    const out = await visitor.call('DELETE', 'session')
    const after = await visitor.call('GET', 'session')

    expect(out.status).toBe(204)
    expect(out.headers.get('set-cookie')).toStartWith('tollgate_session=; Max-Age=0')
    expect(await outcomeOf(after)).toBe('401 not_signed_in')
  })
})

describe('the admin API by a session', () => {
  test('the console has the routes of the admin API, and the audit log names the user', async () => {
    const owner = await aVisitor(gateway, { role: 'owner' })

    const created = await owner.call('POST', 'admin/accounts', { name: 'made in the console' })
    const listed = await owner.call('GET', 'admin/audit?action=account.create&limit=1')

    expect(created.status).toBe(200)
    expect(await listed.json()).toMatchObject({
      data: [
        { action: 'account.create', actor: expect.stringMatching(/^user:owner@example\.com \(usr_\w+\)$/) },
      ],
    })
  })

  test('the cookie is worth nothing at the admin API itself, and at the routes for customers', async () => {
    const { cookie, csrfToken } = await aVisitor(gateway, { role: 'owner', email: 'cookie@example.com' })
    const headers = { cookie, 'x-csrf-token': csrfToken, origin: gateway.url }

    const admin = await fetch(`${gateway.url}/admin/api/accounts`, { headers })
    const balance = await fetch(`${gateway.url}/v1/balance`, { headers })

    expect([admin.status, balance.status]).toEqual([401, 401])
  })

  test('a new role or a disabled user ends the sessions at once', async () => {
    const one = await aVisitor(gateway, { role: 'viewer', email: 'promoted@example.com' })
    const two = await aVisitor(gateway, { role: 'viewer', email: 'gone@example.com' })

    await gateway.admin('PATCH', 'users/promoted@example.com', { role: 'operator' })
    await gateway.admin('PATCH', 'users/gone@example.com', { disabled: true })

    for (const visitor of [one, two])
      expect(await outcomeOf(await visitor.call('GET', 'admin/accounts'))).toBe('401 not_signed_in')
  })
})

describe('requests of other sites', () => {
  let visitor: Visitor | undefined

  test.each([
    ['without the token', '403 cross_site_request', { 'x-csrf-token': '' }],
    ['with another token', '403 cross_site_request', { 'x-csrf-token': 'x'.repeat(43) }],
    ['from another origin', '403 cross_site_request', { origin: 'https://evil.example.com' }],
    ['from an opaque origin', '403 cross_site_request', { origin: 'null' }],
    ['from another site', '403 cross_site_request', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the site', '403 cross_site_request', { 'sec-fetch-site': 'same-site' }],
    ['from the console', '200', {}],
  ])('a change %s is answered with %s', async (title, expected, headers) => {
    visitor ??= await aVisitor(gateway, { role: 'owner', email: 'site@example.com' })

    const reply = await visitor.call('POST', 'admin/accounts', { name: `csrf ${title}` }, headers)

    expect(await outcomeOf(reply)).toBe(expected)
  })

  test('another page cannot sign a browser in, so that it would work in the account of an attacker', async () => {
    await aVisitor(gateway, { role: 'viewer', email: 'attacker@example.com' })

    const reply = await callConsole(gateway, 'POST', 'session', {
      body: { email: 'attacker@example.com', password: PASSWORD },
      headers: { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' },
    })

    expect(await outcomeOf(reply)).toBe('403 cross_site_request')
    expect(cookieIn(reply)).toBe('')
  })
})
