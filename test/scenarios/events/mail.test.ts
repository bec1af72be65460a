import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ADMIN_KEY } from '../../support/gateway.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const PASSWORD = 'p+a/s=s'

let server: MailServer
let gateway: ScriptedGateway

beforeEach(async () => {
  server = await startMailServer({ password: PASSWORD })
  gateway = await start()
})
afterEach(async () => {
  await gateway.stop()
  await server.stop()
})

function start(environment: Record<string, string> = {}): Promise<ScriptedGateway> {
  return startScriptedGateway({
    environment: {
      TOLLGATE_SMTP_URL: `smtp://gateway:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}`,
      TOLLGATE_MAIL_FROM: 'Example AI <alerts@example.com>',
      TOLLGATE_ALERT_EMAILS: 'ops@example.com, boss@example.com',
      ...environment,
    },
  })
}

/** A request of the operator that may be refused. */
async function refused(method: string, path: string, body?: object, url = gateway.url) {
  const reply = await fetch(`${url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return refusalOf(reply)
}

type Doctor = {
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[]
}

async function mailCheck(): Promise<Doctor['checks'][number] | undefined> {
  const { checks } = await gateway.admin<Doctor>('GET', 'doctor')
  return checks.find(({ name }) => name === 'mail')
}

test('a test mail goes to each operator, or to one address, and the reply has what the server said', async () => {
  server.answers.set('boss@example.com', 550)

  const all = await gateway.admin<object>('POST', 'mail/test')
  const one = await gateway.admin<object>('POST', 'mail/test', { to: 'ada@example.com' })

  expect(all).toEqual({
    data: [
      { to: 'ops@example.com', sent: true, problem: null },
      { to: 'boss@example.com', sent: false, problem: 'RCPT TO: 550 not this mailbox' },
    ],
  })
  expect(one).toEqual({ data: [{ to: 'ada@example.com', sent: true, problem: null }] })
  expect(server.received.map(({ to }) => to)).toEqual([['ops@example.com'], ['ada@example.com']])
  expect(server.received[0]?.headers).toContain('From: Example AI <alerts@example.com>')
})

test('doctor logs in to the mail server, and shows the password neither then nor after a failure', async () => {
  const works = await mailCheck()
  await server.stop()
  const fails = await mailCheck()

  expect(works).toEqual({
    name: 'mail',
    ok: true,
    detail: `The mail server 127.0.0.1:${server.port} accepts mails.`,
  })
  expect(fails).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^The mail server .* accepts no mails \(/),
  })
  const text = JSON.stringify(await gateway.admin('GET', 'doctor'))
  expect([PASSWORD, encodeURIComponent(PASSWORD)].filter(secret => text.includes(secret))).toEqual([])
})

test.each([{ to: 'ada' }, { to: 'a@b.example\r\nBcc: c@d.example' }, { to: 5 }, { cc: 'a@b.example' }])(
  'a test mail to a wrong address is refused: %j',
  async body => {
    const [name] = Object.keys(body)

    expect(await refused('POST', 'mail/test', body)).toMatchObject({ status: 400, param: name })
    expect(server.received).toEqual([])
  },
)

test('without a mail server, a test mail is refused and doctor does not check it', async () => {
  await gateway.stop()
  gateway = await startScriptedGateway()

  expect(await refused('POST', 'mail/test', {})).toMatchObject({ status: 409, code: 'mail_off' })
  expect(await mailCheck()).toBeUndefined()
})

/** The gateway looks for mails every 1.5 s. */
async function nextLook(): Promise<void> {
  await until('the gateway waits', () => gateway.clock.waitingFor(1500) === 1)
  gateway.clock.advance(1500)
}

async function mailsTo(address: string): Promise<readonly string[]> {
  await nextLook()
  await until(
    'no mail waits',
    async () => (await gateway.admin<{ waiting: number }>('GET', 'mail')).waiting === 0,
  )
  return server.received
    .filter(({ to }) => to[0] === address)
    .map(({ headers }) => headers.find(line => line.startsWith('Subject: ')) ?? '')
}

test('contacts get mails about their own account only, and customers read their contacts', async () => {
  const [ada, ben] = [await gateway.account({ grant: '0' }), await gateway.account({ grant: '0' })]
  await gateway.admin('PATCH', `accounts/${ada.id}`, { contacts: ['ada@example.com'] })
  await gateway.admin('PATCH', `accounts/${ben.id}`, { contacts: ['ben@example.com'] })
  const credit = { amount_usd: '2.500000001', source: 'top_up', note: 'inv 7' }
  await gateway.admin('POST', `accounts/${ada.id}/grants`, credit)

  expect(await mailsTo('ada@example.com')).toEqual(['Subject: Payment: account 1'])
  expect(await mailsTo('ben@example.com')).toEqual([])
  const mail = server.received.find(({ to }) => to[0] === 'ada@example.com')!
  expect(mail.text).toContain(
    `Account: account 1 (${ada.id})\nAmount: 2.500000001 USD\nAvailable: 2.500000001 USD\n`,
  )
  // The note is for the operator.
  expect(mail.text).not.toContain('inv 7')
  expect(server.received.filter(({ to }) => to[0] === 'ops@example.com')).toHaveLength(1)
  expect(await gateway.read(ada.key, '/v1/key')).toMatchObject({ account: { contacts: ['ada@example.com'] } })
  expect(await gateway.admin('GET', `accounts/${ada.id}`)).toMatchObject({ contacts: ['ada@example.com'] })
  expect(await gateway.admin('GET', 'mail/messages?state=sent&limit=9')).toMatchObject({ has_more: false })
  expect(JSON.stringify(await gateway.admin('GET', 'audit'))).not.toContain('ada@example.com')
})

test.each([
  { contacts: 'ada@example.com' },
  { contacts: ['ada'] },
  { contacts: ['a@b.example\r\nBcc: c@d.example'] },
  { contacts: ['a@b.example, c@d.example'] },
  { contacts: ['a@b.example', 'A@B.example'] },
  { contacts: ['zoë@example.com'] },
  { contacts: Array.from({ length: 11 }, (_, at) => `a${at}@b.example`) },
])('wrong contacts are refused: %j', async body => {
  const { id } = await gateway.account()

  expect(await refused('PATCH', `accounts/${id}`, body)).toMatchObject({ status: 400, param: 'contacts' })
  expect(await gateway.admin('GET', `accounts/${id}`)).toMatchObject({ contacts: [] })
})

test('a mail server that does not answer delays neither a request nor the stop', async () => {
  const silent = new Promise<never>(() => {})
  server.answers.set('ops@example.com', silent)
  server.answers.set('boss@example.com', silent)
  const { id } = await gateway.account({ grant: '0' })
  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '1' })
  await nextLook()
  await until('a mail is being sent', () => gateway.clock.waitingFor(30_000) === 1)

  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '1' })
  await gateway.stop()

  expect(server.received).toEqual([])
  gateway = await startScriptedGateway()
})
