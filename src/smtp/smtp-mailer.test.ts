import { afterEach, expect, test } from 'bun:test'
import { startMailServer, type MailServer } from '../../test/support/mail-server.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { refusedUrl } from '../../test/support/upstream.ts'
import type { OutgoingMail, SmtpServer } from '../gateway/ports/events/mail.ts'
import { until } from '../http1/testing/until.ts'
import { smtpMailer } from './smtp-mailer.ts'

const PASSWORD = 'p+a/s=s'
const clock = fakeClock()
const servers: MailServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.stop()))
})

async function aServer(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailServer> {
  const server = await startMailServer(options)
  servers.push(server)
  return server
}

function aMailer(server: Partial<SmtpServer> & Pick<SmtpServer, 'port'>, name = 'Éxample AI, Inc.') {
  const from = { name, address: 'alerts@example.com' }
  return smtpMailer({ host: '127.0.0.1', tls: 'off', login: undefined, ...server }, { from, clock })
}

function aMail(change: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    id: 'msg_1',
    to: 'ada@example.com',
    subject: 'Low balance: ada',
    text: 'The balance is 4.5 USD.\n',
    atMs: Date.UTC(2026, 10, 21, 5, 50, 9),
    ...change,
  }
}

const never = new AbortController().signal

test('a mail is plain text with one recipient, a stable id and the time of the event', async () => {
  const { port, received } = await aServer()

  const outcome = await aMailer({ port }).send(aMail({ text: 'Konto "Zoë": 4.5 USD = 4,5 USD\n.\n' }), never)

  expect(outcome).toEqual({ outcome: 'sent' })
  expect(received).toHaveLength(1)
  const [{ from, to, headers, text } = received[0]!] = received
  expect({ from, to, text: text.trimEnd() }).toEqual({
    from: 'alerts@example.com',
    to: ['ada@example.com'],
    text: 'Konto "Zoë": 4.5 USD = 4,5 USD\n.',
  })
  expect(headers).toContain('Message-ID: <msg_1@example.com>')
  expect(headers).toContain('Subject: Low balance: ada')
  expect(headers).toContain('To: ada@example.com')
  expect(headers).toContain('Auto-Submitted: auto-generated')
  expect(headers).toContain('Date: Sat, 21 Nov 2026 05:50:09 +0000')
  expect(headers).toContain('Content-Type: text/plain; charset=utf-8')
  expect(headers.join('\n')).not.toMatch(/html|mailer/i)
})

test.each([
  { subject: 'x\r\nBcc: eve@example.com' },
  { subject: 'x\nBcc: eve@example.com\n\nother body' },
  { to: 'ada@example.com\r\nBcc: eve@example.com' },
  { to: 'ada@example.com, eve@example.com' },
  { id: 'msg_1\r\nBcc: eve@example.com' },
])('a line break adds neither a header nor a recipient: %j', async change => {
  const { port, received } = await aServer()

  await aMailer({ port }).send(aMail(change), never)

  for (const { to, headers } of received) {
    expect(to).toHaveLength(1)
    expect(headers.filter(line => /^bcc:/i.test(line))).toEqual([])
  }
})

test('a login is used, and a wrong one is a failure that does not show it', async () => {
  const { port, received } = await aServer({ password: PASSWORD })
  const login = (password: string) => ({ login: { user: 'gateway', password } })

  const sent = await aMailer({ port, ...login(PASSWORD) }).send(aMail(), never)
  const wrong = aMailer({ port, ...login('wrong-secret') })
  const failed = await wrong.send(aMail(), never)

  expect(sent).toEqual({ outcome: 'sent' })
  expect(received.map(({ user }) => user)).toEqual(['gateway'])
  expect(failed).toEqual({ outcome: 'failed', problem: 'AUTH PLAIN: 535 no login with …' })
  expect(await wrong.problem()).toBe('AUTH PLAIN: 535 no login with …')
  expect(JSON.stringify(wrong.server)).not.toContain('wrong-secret')
})

test.each([
  [550, 'refused'],
  [552, 'refused'],
  [450, 'failed'],
  [421, 'failed'],
] as const)('the answer %d to a recipient means that the mail is %s', async (code, outcome) => {
  const { port, answers } = await aServer()
  answers.set('ada@example.com', code)

  const result = await aMailer({ port }).send(aMail(), never)

  expect(result).toEqual({ outcome, problem: expect.stringContaining(`: ${code} not this mailbox`) })
})

test('a server that is down is a failure with a reason', async () => {
  const mailer = aMailer({ port: Number(new URL(refusedUrl()).port) })

  const result = await mailer.send(aMail(), never)

  expect(result).toEqual({ outcome: 'failed', problem: expect.stringMatching(/ECONNREFUSED|connect/i) })
  expect(await mailer.problem()).toMatch(/ECONNREFUSED|connect/i)
})

test('a silent server fails after 30 seconds', async () => {
  const { port, answers } = await aServer()
  answers.set('ada@example.com', new Promise<never>(() => {}))
  const result = aMailer({ port }).send(aMail(), never)
  await until('it waits', () => clock.waitingFor(30_000) === 1)

  clock.advance(30_000)

  expect(await result).toEqual({ outcome: 'failed', problem: 'it took more than 30 s' })
  expect(clock.waiting).toBe(0)
})

test('a signal ends a mail at once', async () => {
  const { port, answers } = await aServer()
  answers.set('ada@example.com', new Promise<never>(() => {}))
  const stopping = new AbortController()
  const result = aMailer({ port }).send(aMail(), stopping.signal)

  stopping.abort()

  expect(await result).toMatchObject({ outcome: 'failed' })
  expect(clock.waiting).toBe(0)
})

test.each([
  ['starttls', { hasStartTls: true }],
  ['implicit', { secure: true }],
] as const)('a certificate that is not trusted is refused: %s', async (tls, options) => {
  const { port, received } = await aServer({ ...options, password: PASSWORD })
  const login = { user: 'gateway', password: PASSWORD }

  const result = await aMailer({ port, tls, login }).send(aMail(), never)

  expect(result).toEqual({ outcome: 'failed', problem: expect.stringMatching(/certificate/i) })
  expect(received).toEqual([])
})

test('a login is not sent to a server without STARTTLS', async () => {
  const { port, received } = await aServer({ password: PASSWORD })
  const login = { user: 'gateway', password: PASSWORD }

  const result = await aMailer({ port, tls: 'starttls', login }).send(aMail(), never)

  expect(result).toEqual({ outcome: 'failed', problem: expect.stringMatching(/STARTTLS/) })
  expect(received).toEqual([])
})

test('a check logs in and sends nothing', async () => {
  const { port, received } = await aServer({ password: PASSWORD })

  expect(await aMailer({ port, login: { user: 'gateway', password: PASSWORD } }).problem()).toBeUndefined()
  expect(received).toEqual([])
})
