import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { aVisitor, callConsole, outcomeOf, PASSWORD, signIn, tokenIn } from '../../support/console.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'

let server: MailServer
let gateway: TestGateway
beforeAll(async () => {
  server = await startMailServer()
  gateway = await startTestGateway({
    environment: {
      TOLLGATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      TOLLGATE_MAIL_FROM: 'Example AI <no-reply@example.com>',
      TOLLGATE_BASE_URL: 'https://ai.example.com/gateway',
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop()
})
beforeEach(() => {
  server.received.length = 0
})

/** The texts of the links in the mails to an address, as they arrived. */
function linksTo(email: string): readonly string[] {
  return server.received.flatMap(({ to, text }) => {
    if (!to.includes(email)) return []
    const link = /^https:\/\/ai\.example\.com\/gateway\/console\/#link=[\w-]{43}$/m.exec(text)?.[0]
    if (link === undefined) throw new Error(`A mail without a link: ${text}`)
    return [tokenIn(link)]
  })
}

function mailed(email: string, count: number): Promise<void> {
  return until(`${count} mails to ${email}`, () => linksTo(email).length === count)
}

const useLink = async (token: string, password = PASSWORD) =>
  outcomeOf(
    await callConsole(gateway, 'PUT', 'link', {
      body: { token, password },
      headers: { origin: 'https://ai.example.com' },
    }),
  )

async function askForReset(email: string): Promise<string> {
  const reply = await callConsole(gateway, 'POST', 'resets', { body: { email } })
  return `${reply.status} ${await reply.text()}`
}

test('an invitation arrives by mail, and its link works once', async () => {
  const email = 'grace@example.com'

  const invited = await gateway.admin<object>('POST', 'users', { email, role: 'viewer' })
  const [token = ''] = linksTo(email)
  const outcomes = [await useLink(token), await useLink(token)]

  expect(invited).toMatchObject({ mailed: true, state: 'invited' })
  expect(server.received).toHaveLength(1)
  expect(server.received[0]!.headers).toEqual(
    expect.arrayContaining([
      'From: Example AI <no-reply@example.com>',
      'To: grace@example.com',
      'Subject: Your invitation to the console',
    ]),
  )
  expect(outcomes).toEqual(['200', '410 link_ended'])
})

test('a link for a forgotten password arrives by mail, works once, and the old password does not work after it', async () => {
  const email = 'forgotten@example.com'
  await aVisitor(gateway, { role: 'viewer', email })
  server.received.length = 0

  const answer = await askForReset(email)
  await mailed(email, 1)
  const [token = ''] = linksTo(email)
  const beforeUse = await signIn(gateway, email)
  const outcomes = [await useLink(token, 'another long password'), await useLink(token, PASSWORD)]
  const old = { email, password: PASSWORD }

  expect(answer).toBe('200 {}')
  expect(outcomes).toEqual(['200', '410 link_ended'])
  expect(await outcomeOf(await beforeUse.call('GET', 'session'))).toBe('401 not_signed_in')
  expect(await outcomeOf(await callConsole(gateway, 'POST', 'session', { body: old }))).toBe(
    '401 wrong_credentials',
  )
  await signIn(gateway, email, 'another long password')
})

test('a second mail makes the link of the first one useless', async () => {
  const email = 'twice@example.com'
  await aVisitor(gateway, { role: 'viewer', email })
  server.received.length = 0

  await askForReset(email)
  await mailed(email, 1)
  await askForReset(email)
  await mailed(email, 2)
  const [first = '', second = ''] = linksTo(email)

  expect([await useLink(first), await useLink(second)]).toEqual(['410 link_ended', '200'])
})

test('an unknown address and a disabled user get the same answer as a user, and no mail', async () => {
  await aVisitor(gateway, { role: 'viewer', email: 'off@example.com' })
  await aVisitor(gateway, { role: 'viewer', email: 'known@example.com' })
  await gateway.admin('PATCH', 'users/off@example.com', { disabled: true })
  server.received.length = 0

  const answers = [
    await askForReset('nobody@example.com'),
    await askForReset('off@example.com'),
    await askForReset('known@example.com'),
  ]
  // Asked for last, so the others would have come before it.
  await mailed('known@example.com', 1)

  expect(new Set(answers)).toEqual(new Set(['200 {}']))
  expect(server.received.map(({ to }) => to)).toEqual([['known@example.com']])
})

test('an invitation that the mail server refuses is not lost: the reply has its link', async () => {
  const email = 'full@example.com'
  server.answers.set(email, 550)

  const invited = await gateway.admin<{ link: string; mailed: boolean }>('POST', 'users', {
    email,
    role: 'viewer',
  })

  expect(invited.mailed).toBe(false)
  expect(await useLink(tokenIn(invited.link))).toBe('200')
})
