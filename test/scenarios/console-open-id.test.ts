import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OAuth2Server } from 'oauth2-mock-server'
import { callConsole, cookieIn } from '../support/console.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const provider = new OAuth2Server()
let gateway: TestGateway
beforeAll(async () => {
  await provider.issuer.keys.generate('RS256')
  await provider.start(0, '127.0.0.1')
  provider.issuer.url = `http://127.0.0.1:${provider.address().port}`
  gateway = await startTestGateway({
    environment: {
      TOLLGATE_BASE_URL: 'https://ai.example.com/gateway',
      TOLLGATE_OIDC_ISSUER: provider.issuer.url,
      TOLLGATE_OIDC_CLIENT_ID: 'tollgate',
      TOLLGATE_OIDC_CLIENT_SECRET: 'secret',
      TOLLGATE_OIDC_NAME: 'Example login',
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

type Claims = Readonly<Record<string, unknown>>

/** Signs in at the provider as a person with these claims, and changes what comes back. */
async function signInAs(
  claims: Claims,
  { returned = url => url, cookie }: { readonly returned?: (url: URL) => URL; readonly cookie?: string } = {},
): Promise<Response> {
  const started = await callConsole(gateway, 'GET', 'oidc')
  const sent = new URL(started.headers.get('location') ?? '')
  // It is asked for the access token and for the ID token.
  provider.service.removeAllListeners('beforeTokenSigning')
  provider.service.on('beforeTokenSigning', (token: { payload: Claims }) => {
    Object.assign(token.payload, claims)
  })
  const answered = await fetch(sent, { redirect: 'manual' })
  const back = returned(new URL(answered.headers.get('location') ?? ''))
  return callConsole(gateway, 'GET', `oidc-callback${back.search}`, {
    headers: { cookie: cookie ?? cookieIn(started), 'sec-fetch-site': 'cross-site' },
  })
}

/** Whether a browser is signed in after it. */
async function resultOf(reply: Response): Promise<string> {
  expect(reply.status).toBe(302)
  const location = reply.headers.get('location') ?? ''
  const cookie = cookieIn(reply)
  if (!cookie.startsWith('tollgate_session='))
    return location.startsWith('../#sign-in-error=') ? 'refused' : location
  expect(location).toBe('../')
  const session = await callConsole(gateway, 'GET', 'session', { headers: { cookie } })
  return ((await session.json()) as { user: { email: string } }).user.email
}

describe('signing in at an OpenID provider', () => {
  test('an invited user is found by the verified e-mail address, and later by issuer and subject alone', async () => {
    await gateway.admin('POST', 'users', { email: 'ada@example.com', role: 'viewer' })

    const first = await signInAs({ sub: 'ada-1', email: 'Ada@example.com', email_verified: true })
    const later = await signInAs({ sub: 'ada-1', email: 'renamed@example.com', email_verified: true })
    const other = await signInAs({ sub: 'mallory', email: 'ada@example.com', email_verified: true })

    expect(first.headers.get('set-cookie')).toContain('; Secure')
    expect(await resultOf(first)).toBe('ada@example.com')
    expect(await resultOf(later)).toBe('ada@example.com')
    expect(await resultOf(other)).toBe('refused')
  })

  test('an address that is not verified, was not invited, or belongs to a user with a password signs nobody in', async () => {
    await gateway.admin('POST', 'users', { email: 'ben@example.com', role: 'owner' })
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: 'cy@example.com',
      role: 'owner',
    })
    const body = { token: new URL(link).hash.slice('#link='.length), password: 'correct horse battery' }
    await callConsole(gateway, 'PUT', 'link', { body, headers: { origin: 'https://ai.example.com' } })

    const replies = [
      await signInAs({ sub: 'ben-1', email: 'ben@example.com', email_verified: false }),
      await signInAs({ sub: 'ben-1', email: 'ben@example.com' }),
      await signInAs({ sub: 'eve-1', email: 'eve@example.com', email_verified: true }),
      await signInAs({ sub: 'cy-1', email: 'cy@example.com', email_verified: true }),
    ]

    for (const reply of replies) expect(await resultOf(reply)).toBe('refused')
    const { data } = await gateway.admin<{ data: { email: string }[] }>('GET', 'users')
    expect(data.map(({ email }) => email)).not.toContain('eve@example.com')
  })

  test.each([
    ['another nonce', { nonce: 'of another sign-in' }, undefined],
    ['another issuer in the token', { iss: 'https://evil.example.com' }, undefined],
    ['another audience', { aud: 'another-client' }, undefined],
    ['an expired token', { exp: 1 }, undefined],
    ['another state', {}, (url: URL) => changed(url, 'state', 'x')],
    ['another issuer in the address', {}, (url: URL) => changed(url, 'iss', 'https://evil.example.com')],
    ['no code', {}, (url: URL) => changed(url, 'code', undefined)],
  ])('%s signs nobody in', async (_, claims, returned) => {
    await gateway.admin('POST', 'users', { email: 'dee@example.com', role: 'owner' }).catch(() => undefined)
    const person = { sub: 'dee-1', email: 'dee@example.com', email_verified: true }

    const reply = await signInAs({ ...person, ...claims }, returned === undefined ? {} : { returned })

    expect(await resultOf(reply)).toBe('refused')
  })

  test('the answer to a sign-in of another browser signs nobody in', async () => {
    const other = await callConsole(gateway, 'GET', 'oidc')

    const reply = await signInAs({ sub: 'ada-1' }, { cookie: cookieIn(other) })
    const without = await signInAs({ sub: 'ada-1' }, { cookie: '' })

    expect([await resultOf(reply), await resultOf(without)]).toEqual(['refused', 'refused'])
  })

  test.each([
    'redirect=https://evil.example.com',
    'return_to=//evil.example.com',
    'next=%2F%2Fevil.example.com',
  ])('the address ?%s leads to the console and nowhere else', async query => {
    const reply = await callConsole(gateway, 'GET', `oidc-callback?${query}`)

    expect(reply.headers.get('location')).toStartWith('../#sign-in-error=')
  })

  test('the button has its name, and a disabled user is refused', async () => {
    const page = await callConsole(gateway, 'GET', 'sign-in')
    await gateway.admin('PATCH', 'users/ada@example.com', { disabled: true })

    expect(await page.json()).toMatchObject({ oidc: { name: 'Example login' }, password: true })
    expect(await resultOf(await signInAs({ sub: 'ada-1' }))).toBe('refused')
  })
})

function changed(url: URL, name: string, value: string | undefined): URL {
  if (value === undefined) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url
}
