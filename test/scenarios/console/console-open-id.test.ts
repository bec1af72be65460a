import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OAuth2Server } from 'oauth2-mock-server'
import { Secret, TOTP } from 'otpauth'
import { callConsole, cookieIn, outcomeOf } from '../../support/console.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const provider = new OAuth2Server()
const clock = fakeClock()
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
    overrides: { clock },
  })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

type Claims = Readonly<Record<string, unknown>>

type Tokens = { readonly id_token: string }

type Changes = {
  /** Changes where the provider sends the browser. */
  readonly returned?: (url: URL) => URL
  /** Instead of the cookie of this browser. */
  readonly cookie?: string
  /** What the provider answers instead of these tokens. */
  readonly answer?: (tokens: Tokens) => { readonly statusCode: number; readonly body: object }
}

/** Signs in at the provider as a person with these claims, and changes what comes back. */
async function signInAs(claims: Claims, changes: Changes = {}): Promise<Response> {
  const { search, cookie } = await returnAs(claims, changes)
  return comeBack(search, cookie)
}

/** The browser after the provider: with the address that it is sent to, and its cookie. */
async function returnAs(claims: Claims, { returned = url => url, cookie, answer }: Changes = {}) {
  const started = await callConsole(gateway, 'GET', 'oidc')
  const sent = new URL(started.headers.get('location') ?? '')
  provider.service.removeAllListeners('beforeResponse')
  if (answer !== undefined)
    provider.service.once(
      'beforeResponse',
      (reply: { readonly body: Tokens }) => void Object.assign(reply, answer(reply.body)),
    )
  // It is asked for the access token and for the ID token.
  provider.service.removeAllListeners('beforeTokenSigning')
  provider.service.on('beforeTokenSigning', (token: { payload: Claims }) => {
    Object.assign(token.payload, claims)
  })
  const answered = await fetch(sent, { redirect: 'manual' })
  const { search } = returned(new URL(answered.headers.get('location') ?? ''))
  return { search, cookie: cookie ?? cookieIn(started) }
}

function comeBack(search: string, cookie: string): Promise<Response> {
  const headers = { cookie, 'sec-fetch-site': 'cross-site' }
  return callConsole(gateway, 'GET', `oidc-callback${search}`, { headers })
}

const ENDED = 'tollgate_sign_in=; Max-Age=0; HttpOnly; SameSite=Lax; Secure'

/** Who is signed in after it, or the reason why nobody is. The cookie of the sign-in has ended in any case. */
async function resultOf(reply: Response): Promise<string> {
  expect(reply.status).toBe(302)
  expect(await reply.text()).toBe('')
  expect(reply.headers.getSetCookie()).toContain(ENDED)
  const location = reply.headers.get('location') ?? ''
  const cookie = cookieIn(reply)
  if (!cookie.startsWith('tollgate_session=')) {
    expect(reply.headers.getSetCookie()).toEqual([ENDED])
    // Only these four, so that nothing of the provider gets on the page.
    return /^\.\.\/#sign-in-error=(not_started|not_invited|disabled|other)$/.exec(location)?.[1] ?? location
  }
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
    expect(await resultOf(other)).toBe('not_invited')
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

    for (const reply of replies) expect(await resultOf(reply)).toBe('not_invited')
    const { data } = await gateway.admin<{ data: { email: string }[] }>('GET', 'users')
    expect(data.map(({ email }) => email)).not.toContain('eve@example.com')
  })

  const PERSON = { sub: 'dee-1', email: 'dee@example.com', email_verified: true }
  const MARKUP = '<img src=x onerror=alert(1)>'

  test.each<[string, Claims, Changes]>([
    ['another nonce', { nonce: 'of another sign-in' }, {}],
    ['another issuer in the token', { iss: 'https://evil.example.com' }, {}],
    ['another audience', { aud: 'another-client' }, {}],
    ['an expired token', { exp: 1 }, {}],
    ['another state', {}, { returned: url => changed(url, { state: 'x' }) }],
    [
      'another issuer in the address',
      {},
      { returned: url => changed(url, { iss: 'https://evil.example.com' }) },
    ],
    ['no code', {}, { returned: url => changed(url, { code: undefined }) }],
    ['another code', {}, { returned: url => changed(url, { code: 'of nobody' }) }],
    [
      'an error in the address',
      {},
      { returned: url => changed(url, { code: undefined, error: MARKUP, error_description: MARKUP }) },
    ],
    [
      'an error instead of tokens',
      {},
      { answer: () => ({ statusCode: 400, body: { error: 'invalid_grant', error_description: MARKUP } }) },
    ],
    [
      'an answer without an ID token',
      {},
      { answer: tokens => ({ statusCode: 200, body: { ...tokens, id_token: undefined } }) },
    ],
    [
      'a token of another person with the signature of this one',
      {},
      {
        answer: tokens => ({
          statusCode: 200,
          body: { ...tokens, id_token: withSubject(tokens.id_token, 'ada-1') },
        }),
      },
    ],
  ])(
    '%s signs nobody in, and the page is told nothing that the provider said',
    async (_, claims, changes) => {
      await gateway.admin('POST', 'users', { email: PERSON.email, role: 'owner' }).catch(() => undefined)

      const reply = await signInAs({ ...PERSON, ...claims }, changes)

      expect(await resultOf(reply)).toBe('other')
    },
  )

  test('the answer to a sign-in of another browser signs nobody in', async () => {
    const other = await callConsole(gateway, 'GET', 'oidc')

    const reply = await signInAs({ sub: 'ada-1' }, { cookie: cookieIn(other) })
    const without = await signInAs({ sub: 'ada-1' }, { cookie: '' })

    expect([await resultOf(reply), await resultOf(without)]).toEqual(['other', 'not_started'])
  })

  test('an answer of the provider signs in once, also in a browser that has kept the cookie', async () => {
    const { search, cookie } = await returnAs({ sub: 'ada-1' })

    const results = [
      await comeBack(search, cookie),
      await comeBack(search, cookie),
      await comeBack(search, ''),
    ]

    expect(await Promise.all(results.map(resultOf))).toEqual(['ada@example.com', 'other', 'not_started'])
  })

  test.each([
    'redirect=https://evil.example.com',
    'return_to=//evil.example.com',
    'next=%2F%2Fevil.example.com',
  ])('the address ?%s leads to the console and nowhere else', async query => {
    const reply = await callConsole(gateway, 'GET', `oidc-callback?${query}`)

    expect(await resultOf(reply)).toBe('not_started')
  })

  test('a user without a password sets up and removes codes with a fresh sign-in alone', async () => {
    const call = async (cookie: string, method: string, body?: object) => {
      const session = await callConsole(gateway, 'GET', 'session', { headers: { cookie } })
      const { csrf_token: token } = (await session.json()) as { csrf_token: string }
      const headers = { cookie, 'x-csrf-token': token }
      return callConsole(gateway, method, 'totp', { headers, ...(body !== undefined && { body }) })
    }
    const stale = cookieIn(await signInAs({ sub: 'ada-1' }))
    clock.advance(5 * 60_000)
    const refused = await outcomeOf(await call(stale, 'POST'))
    const fresh = cookieIn(await signInAs({ sub: 'ada-1' }))

    const proposed = (await (await call(fresh, 'POST')).json()) as { secret: string }
    const code = new TOTP({ secret: Secret.fromBase32(proposed.secret) }).generate({ timestamp: clock.now() })
    const confirmed = await outcomeOf(await call(fresh, 'PUT', { code }))
    const refusedOff = await outcomeOf(await call(stale, 'DELETE'))
    const removed = await outcomeOf(await call(fresh, 'DELETE'))

    expect([refused, refusedOff]).toEqual(['401 fresh_sign_in_needed', '401 fresh_sign_in_needed'])
    expect([confirmed, removed]).toEqual(['200', '200'])
  })

  test('a provider that does not answer leads back to the console, without a cookie', async () => {
    provider.service.once(
      'beforeWellKnownOpenIdConfiguration',
      (reply: object) => void Object.assign(reply, { statusCode: 503 }),
    )

    const reply = await callConsole(gateway, 'GET', 'oidc')

    expect([reply.status, reply.headers.get('location')]).toEqual([302, '../#sign-in-error=other'])
    expect(reply.headers.getSetCookie()).toEqual([])
  })

  test('the button has its name, and a disabled user is refused', async () => {
    const page = await callConsole(gateway, 'GET', 'sign-in')
    await gateway.admin('PATCH', 'users/ada@example.com', { disabled: true })

    expect(await page.json()).toMatchObject({ oidc: { name: 'Example login' }, password: true })
    expect(await resultOf(await signInAs({ sub: 'ada-1' }))).toBe('disabled')
  })
})

function changed(url: URL, parameters: Readonly<Record<string, string | undefined>>): URL {
  for (const [name, value] of Object.entries(parameters))
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  return url
}

/** The token with another subject and the old signature. */
function withSubject(token: string, sub: string): string {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const claims = { ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims), sub }
  return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
}
