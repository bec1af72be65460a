import { afterEach, beforeEach, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { freePort } from '../../test/support/free-port.ts'
import { startMailServer, type MailServer } from '../../test/support/mail-server.ts'
import { aSqliteStore, type TestSqlite } from '../../test/support/test-store.ts'
import { until } from '../http1/testing/until.ts'
import { smtpMailer } from '../smtp/smtp-mailer.ts'
import type { DeliveryTurns } from './delivery-turns.ts'
import { mailDeliveries } from './send-mails.ts'

const OPS = 'ops@example.com'

let server: MailServer
let clock: FakeClock
let store: TestSqlite
let sender: DeliveryTurns
let failures: unknown[]
let refusals: string[]
let leftToOthers: number

beforeEach(async () => {
  // Its port stays free while it is down.
  server = await startMailServer({ port: await freePort() })
  clock = fakeClock()
  store = aSqliteStore(undefined, clock)
  failures = []
  refusals = []
  leftToOthers = 0
  sender = aSender()
})
afterEach(async () => {
  await sender.stop()
  await server.stop()
  await store.close()
  expect(failures).toEqual([])
})

function aSender({ operators = [OPS], hasServer = true, isAlone = true } = {}): DeliveryTurns {
  const from = { name: '', address: 'alerts@example.com' }
  const settings = { isOn: hasServer, operators, perAddress: 100, perDay: 1000 }
  const address = { host: '127.0.0.1', port: server.port, tls: 'off', login: undefined } as const
  return mailDeliveries({
    mail: store.mail,
    queue: store.mailQueue,
    leases: store.leases,
    clock,
    mailer: hasServer ? smtpMailer(address, { from, clock }) : undefined,
    settings,
    onFailed: error => failures.push(error),
    onRefused: problem => refusals.push(problem),
    isAlone: () => Promise.resolve(isAlone),
    onLeftToOthers: () => (leftToOthers += 1),
  })
}

async function report(count = 1): Promise<void> {
  for (let each = 0; each < count; each += 1)
    await store.webhooks.report({ type: 'books.problem', data: { message: 'é' }, atMs: clock.now() })
}

async function send(): Promise<void> {
  await sender.look()
  await sender.idle()
}

const states = async () => (await store.mail.messages({ limit: 100 })).messages.map(({ state }) => state)

test('mails are sent with the id of their row, and once', async () => {
  await send()
  await report(2)

  await send()
  await send()

  const { messages } = await store.mail.messages({ limit: 9 })
  const ids = server.received.map(({ headers }) => headers.find(line => line.startsWith('Message-ID')))
  expect(ids.toReversed()).toEqual(messages.map(({ publicId }) => `Message-ID: <${publicId}@example.com>`))
  expect(server.received.map(({ text }) => text)).toEqual([
    expect.stringContaining('Message: é'),
    expect.stringContaining('Message: é'),
  ])
  expect(await states()).toEqual(['sent', 'sent'])
})

test('a server that is down is asked less often, and then gets every mail', async () => {
  await send()
  await report(3)
  await server.stop()
  let attempts = 0
  for (let second = 0; second < 120; second += 1) {
    const before = refusals.length
    await send()
    attempts += refusals.length - before
    clock.advance(1000)
  }
  const { messages } = await store.mail.messages({ limit: 9 })
  const made = messages.reduce((sum, each) => sum + each.attempts, 0)
  server = await startMailServer({ port: server.port })
  clock.advance(600_000)

  for (let turn = 0; turn < 3; turn += 1) await send()

  // After 0, 4, 12, 28 and 60 s. The log has the first failure only.
  expect([made, attempts]).toEqual([5, 1])
  expect(await states()).toEqual(['sent', 'sent', 'sent'])
})

test('an address that is refused does not hold back the others', async () => {
  sender = aSender({ operators: ['gone@example.com', OPS] })
  server.answers.set('gone@example.com', 550)
  await send()
  await report()

  await send()

  expect(server.received.map(({ to }) => to)).toEqual([[OPS]])
  expect(await states()).toEqual(['sent', 'failed'])
  expect(refusals).toEqual(['RCPT TO: 550 not this mailbox'])
})

test('two nodes send each mail once, because one of them has the lease', async () => {
  await send()
  await report(6)
  const other = aSender()

  for (let turn = 0; turn < 3; turn += 1) {
    await Promise.all([sender.look(), other.look()])
    await Promise.all([sender.idle(), other.idle()])
  }

  expect(server.received).toHaveLength(6)
})

test('a stop ends a mail that the server does not answer, and it is sent again later', async () => {
  server.answers.set(OPS, new Promise<never>(() => {}))
  await send()
  await report()
  sender.start()
  await until('the mail is being sent', () => clock.waitingFor(30_000) === 1)

  await sender.stop()

  expect(await states()).toEqual(['waiting'])
  expect((await store.mail.messages({ limit: 1 })).messages[0]?.attempts).toBe(0)
  expect(clock.waiting).toBe(0)
  server.answers.clear()
  sender = aSender()
  await send()
  expect(await states()).toEqual(['sent'])
})

test('a started sender looks every 1.5 seconds', async () => {
  sender.start()
  await until('it waits', () => clock.waitingFor(1500) === 1)
  await report()

  clock.advance(1500)

  await until('the mail is sent', async () => (await states())[0] === 'sent')
})

test('without a mail server, the first look ends the mails that wait, and is the last one', async () => {
  await sender.look()
  await report()
  sender = aSender({ hasServer: false })

  const mayHaveMore = await sender.look()

  expect(await states()).toEqual(['failed'])
  expect(mayHaveMore).toBe(false)
})

test('beside other nodes, a node without a mail server leaves the mails to them, and says so', async () => {
  await sender.look()
  await report()
  const other = aSender({ hasServer: false, isAlone: false })

  const mayHaveMore = await other.look()

  expect(mayHaveMore).toBe(false)
  expect(leftToOthers).toBe(1)
  expect(await states()).toEqual(['waiting'])
  await send()
  expect(await states()).toEqual(['sent'])
})
