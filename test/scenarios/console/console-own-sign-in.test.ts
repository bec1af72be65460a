import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import { aVisitor, callConsole, outcomeOf, PASSWORD, signIn, tokenIn } from '../../support/console.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const PERIOD_MS = 30_000
const clock = fakeClock()
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ overrides: { clock } })
})
afterAll(() => gateway.stop())

const WRONG_CODE = '000000'

/**
 * The code of an app now. First, the clock moves until all codes that count in this period or the next one differ, also
 * from the wrong one.
 */
function codeOf(secret: string): () => string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const codeIn = (periods: number) => totp.generate({ timestamp: clock.now() + periods * PERIOD_MS })
  while (new Set([WRONG_CODE, ...[-1, 0, 1, 2].map(codeIn)]).size < 5) clock.advance(PERIOD_MS)
  return () => codeIn(0)
}

test('a code of the app is needed after it was confirmed, and no code counts twice', async () => {
  const email = 'totp@example.com'
  const visitor = await aVisitor(gateway, { role: 'viewer', email })
  const proposed = (await (await visitor.call('POST', 'totp', { password: PASSWORD })).json()) as {
    secret: string
    uri: string
  }
  const codeNow = codeOf(proposed.secret)
  const attempt = async (code?: string) =>
    outcomeOf(await callConsole(gateway, 'POST', 'session', { body: { email, password: PASSWORD, code } }))
  const before = await attempt()
  const first = codeNow()

  const confirmed = await visitor.call('PUT', 'totp', { code: first })

  expect(proposed.uri).toStartWith('otpauth://totp/Tollgate:totp%40example.com?')
  expect(before).toBe('200')
  expect(await confirmed.json()).toEqual({ has_totp: true })
  expect(await attempt()).toBe('401 code_needed')
  expect(await attempt(first)).toBe('401 wrong_credentials')
  clock.advance(PERIOD_MS)
  const second = codeNow()
  expect(await attempt(second)).toBe('200')
  expect(await attempt(second)).toBe('401 wrong_credentials')
  expect(await attempt(WRONG_CODE.replace(/^.../, '$& '))).toBe('401 wrong_credentials')
})

test('asking for the code does not forget wrong codes before it, so that codes cannot be guessed without a wait', async () => {
  const email = 'guessed@example.com'
  const visitor = await aVisitor(gateway, { role: 'viewer', email })
  const proposed = (await (await visitor.call('POST', 'totp', { password: PASSWORD })).json()) as {
    secret: string
  }
  const code = codeOf(proposed.secret)()
  await visitor.call('PUT', 'totp', { code })
  const attempt = async (guess?: string) => {
    const body = { email, password: PASSWORD, code: guess }
    return outcomeOf(await callConsole(gateway, 'POST', 'session', { body }))
  }
  const outcomes: string[] = []

  for (let guess = 0; guess < 6; guess += 1) outcomes.push(await attempt(WRONG_CODE), await attempt())

  expect(outcomes.slice(0, 2)).toEqual(['401 wrong_credentials', '401 code_needed'])
  expect(outcomes.at(-1)).toBe('429 too_many_tries')
})

test('a found session cannot switch on codes, which would lock its user out', async () => {
  const visitor = await aVisitor(gateway, { role: 'viewer', email: 'found@example.com' })

  const without = await outcomeOf(await visitor.call('POST', 'totp'))
  const outcomes: string[] = []
  for (let guess = 0; guess < 6; guess += 1)
    outcomes.push(await outcomeOf(await visitor.call('POST', 'totp', { password: 'a wrong password' })))
  const confirmed = await outcomeOf(await visitor.call('PUT', 'totp', { code: '000000' }))

  expect(without).toBe('400 invalid_field')
  expect(outcomes.slice(4)).toEqual(['401 wrong_credentials', '429 too_many_tries'])
  expect(confirmed).toBe('404 not_found')
})

test('switching codes off needs the password, ends all other sessions, and gives this browser a new cookie', async () => {
  const email = 'codes-off@example.com'
  const here = await aVisitor(gateway, { role: 'viewer', email })
  const there = await signIn(gateway, email)
  const { secret } = (await (await here.call('POST', 'totp', { password: PASSWORD })).json()) as {
    secret: string
  }
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now() })
  await here.call('PUT', 'totp', { code })

  const refused = await outcomeOf(await here.call('DELETE', 'totp', { password: 'a wrong password' }))
  const removed = await here.call('DELETE', 'totp', { password: PASSWORD })

  expect(refused).toBe('401 wrong_credentials')
  expect(removed.headers.get('set-cookie')).not.toContain(here.cookie)
  for (const old of [here, there])
    expect(await outcomeOf(await old.call('GET', 'session'))).toBe('401 not_signed_in')
  await signIn(gateway, email)
})

test('a new password needs the current one, ends all other sessions, and gives this browser a new cookie', async () => {
  const email = 'password@example.com'
  const here = await aVisitor(gateway, { role: 'viewer', email })
  const there = await signIn(gateway, email)

  const wrong = await here.call('POST', 'password', { current: 'wrong', new: 'another long password' })
  const weak = await here.call('POST', 'password', { current: PASSWORD, new: 'short' })
  const changed = await here.call('POST', 'password', { current: PASSWORD, new: 'another long password' })

  expect([await outcomeOf(wrong), await outcomeOf(weak)]).toEqual([
    '401 wrong_credentials',
    '400 invalid_field',
  ])
  expect(changed.headers.get('set-cookie')).not.toContain(here.cookie)
  for (const old of [here, there])
    expect(await outcomeOf(await old.call('GET', 'session'))).toBe('401 not_signed_in')
  await signIn(gateway, email, 'another long password')
})

test('signing in changes the cookie that a browser came with, and ends its session', async () => {
  const email = 'fixation@example.com'
  await aVisitor(gateway, { role: 'viewer', email })
  const attacker = await aVisitor(gateway, { role: 'viewer', email: 'fixed@example.com' })

  const planted = await callConsole(gateway, 'POST', 'session', {
    body: { email, password: PASSWORD },
    headers: { cookie: attacker.cookie },
  })

  expect(planted.status).toBe(200)
  expect(planted.headers.get('set-cookie')).not.toContain(attacker.cookie)
  expect(await outcomeOf(await attacker.call('GET', 'session'))).toBe('401 not_signed_in')
})

test('users see where they are signed in, and end one session', async () => {
  const email = 'sessions@example.com'
  const here = await aVisitor(gateway, { role: 'viewer', email })
  const there = await signIn(gateway, email)
  const listed = (await (await here.call('GET', 'sessions')).json()) as {
    data: { id: string; current: boolean }[]
  }
  const other = listed.data.find(({ current }) => !current)!

  const ended = await here.call('DELETE', `sessions/${other.id}`)

  expect(listed.data).toHaveLength(2)
  expect(await ended.json()).toEqual({ id: other.id })
  expect(await outcomeOf(await there.call('GET', 'session'))).toBe('401 not_signed_in')
  expect(await outcomeOf(await here.call('GET', 'session'))).toBe('200')
})

test('a user signs out everywhere, and a link that was sent before no longer works', async () => {
  const email = 'everywhere@example.com'
  const here = await aVisitor(gateway, { role: 'viewer', email })
  const there = await signIn(gateway, email)
  const { link } = await gateway.admin<{ link: string }>('POST', `users/${email}/link`)

  const out = await here.call('DELETE', 'sessions')

  expect(out.headers.getSetCookie()).toEqual(['tollgate_session=; Max-Age=0; HttpOnly; SameSite=Lax'])
  for (const old of [here, there])
    expect(await outcomeOf(await old.call('GET', 'session'))).toBe('401 not_signed_in')
  const token = tokenIn(link)
  expect(await outcomeOf(await callConsole(gateway, 'POST', 'link', { body: { token } }))).toBe(
    '410 link_ended',
  )
  await signIn(gateway, email)
})

test('an owner signs a user out everywhere, from the next request on', async () => {
  const email = 'signed-out@example.com'
  const owner = await aVisitor(gateway, { role: 'owner', email: 'signs-out@example.com' })
  const visitor = await aVisitor(gateway, { role: 'viewer', email })
  const before = await outcomeOf(await visitor.call('GET', 'admin/accounts'))

  const ended = await owner.call('DELETE', `admin/users/${email}/sessions`)

  expect([before, await ended.json()]).toEqual(['200', { ended: 1 }])
  for (const path of ['session', 'admin/accounts'])
    expect(await outcomeOf(await visitor.call('GET', path))).toBe('401 not_signed_in')
})

test('nobody ends a session of another user', async () => {
  const ada = await aVisitor(gateway, { role: 'viewer', email: 'one@example.com' })
  const owner = await aVisitor(gateway, { role: 'owner', email: 'two@example.com' })
  const { data } = (await (await owner.call('GET', 'sessions')).json()) as { data: { id: string }[] }

  const reply = await ada.call('DELETE', `sessions/${data[0]!.id}`)

  expect(await outcomeOf(reply)).toBe('404 not_found')
  expect(await outcomeOf(await owner.call('GET', 'session'))).toBe('200')
})

test('a session ends after twelve hours without use', async () => {
  const HOUR_MS = 3_600_000
  const visitor = await aVisitor(gateway, { role: 'viewer', email: 'idle@example.com' })
  clock.advance(11 * HOUR_MS)
  const used = await outcomeOf(await visitor.call('GET', 'session'))
  // The gateway writes in order, so the use of the session is written before this.
  await gateway.admin('POST', 'accounts', { name: 'after a use' })
  clock.advance(11 * HOUR_MS)
  const usedAgain = await outcomeOf(await visitor.call('GET', 'session'))
  await gateway.admin('POST', 'accounts', { name: 'after another use' })

  clock.advance(12 * HOUR_MS)

  expect([used, usedAgain]).toEqual(['200', '200'])
  expect(await outcomeOf(await visitor.call('GET', 'session'))).toBe('401 not_signed_in')
})

test('asking for a new password tells nobody which users there are', async () => {
  await aVisitor(gateway, { role: 'viewer', email: 'forgotten@example.com' })

  const replies = await Promise.all(
    ['forgotten@example.com', 'nobody@example.com'].map(email =>
      callConsole(gateway, 'POST', 'resets', { body: { email } }),
    ),
  )

  for (const reply of replies) expect([reply.status, await reply.text()]).toEqual([200, '{}'])
})
