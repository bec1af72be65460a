import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chunkedBody } from '../../../src/http1/testing/http-text.ts'
import { turn } from '../../support/turn.ts'
import { chatAnswer, chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import { rawConnection, type RawConnection } from '../../../src/http1/testing/raw-http.ts'
import { ADMIN_KEY, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

const MEGABYTE = 1 << 20
const CHAT = '/v1/chat/completions'
const HELLO = '{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}'

/** Large bodies get 64 MB: all but the 64 MB for small ones. One key gets 16 MB of them, and 32 MB with small ones. */
const environment = { TOLLGATE_MAX_BUFFERED_MB: '128', TOLLGATE_MAX_BODY_MB: '16' }

let gateway: ScriptedGateway
let ada: TestAccount
let ben: TestAccount
const connections: RawConnection[] = []

beforeAll(async () => {
  gateway = await startScriptedGateway({ environment })
  ada = await gateway.account()
  ben = await gateway.account()
})
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.leave()
  await until('all memory is given back', async () => (await reserved()) === 0)
})
afterAll(() => gateway.stop())

const reserved = () => gateway.metric('tollgate_body_memory_bytes')
const waiting = () => gateway.metric('tollgate_body_memory_waiters')

/** Sends a head and a part of its body. */
async function send(
  framing: string,
  sent: string,
  { key = ada.key, path = CHAT, header = 'x-api-key' } = {},
): Promise<RawConnection> {
  const connection = rawConnection(gateway.url)
  connections.push(connection)
  await connection.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${header}: ${key}\r\n${framing}\r\n\r\n${sent}`)
  return connection
}

const declaring = (megabytes: number) => `content-length: ${megabytes * MEGABYTE}`

/** Half-sent bodies that take all the memory for large bodies, from four keys. */
async function fillMemory(): Promise<RawConnection[]> {
  const accounts = await Promise.all([1, 2, 3, 4].map(() => gateway.account()))
  const filled = await Promise.all(accounts.map(({ key }) => send(declaring(16), '{', { key })))
  await until('four bodies are reserved', async () => (await reserved()) === 64 * MEGABYTE)
  return filled
}

test('the declared length is reserved before the body arrives', async () => {
  await send(declaring(10), '{"model"')

  await until('the declared length is reserved', async () => (await reserved()) === 10 * MEGABYTE)
})

test('a body in chunks is reserved as it grows', async () => {
  const connection = await send('transfer-encoding: chunked', '10000\r\n'.padEnd(0x10000 + 7, ' '))
  await until('the first chunk is reserved', async () => (await reserved()) === 0x10000)

  await connection.write('\r\n10000\r\n'.padEnd(0x10000 + 9, ' '))

  await until('the second chunk is reserved', async () => (await reserved()) === 0x20000)
})

describe('a body that does not fit', () => {
  test.each([
    ['with a length', declaring(16), '{'],
    ['in chunks', 'transfer-encoding: chunked', `60000\r\n${' '.repeat(0x60000)}\r\n`],
  ])('%s waits, and is served when others have ended', async (_, framing, sent) => {
    const [first] = await fillMemory()
    await send(framing, sent)
    await until('it waits', async () => (await waiting()) === 1)

    first!.leave()

    await until('it waits no more', async () => (await waiting()) === 0)
  })

  test.each([
    ['with a length', declaring(16), '{'],
    ['in chunks', 'transfer-encoding: chunked', `60000\r\n${' '.repeat(0x60000)}\r\n`],
  ])('%s gets a 503 after 10 seconds, and its connection is closed', async (_, framing, sent) => {
    const calls = gateway.upstream.requests.length
    await fillMemory()
    const refused = await send(framing, sent)
    await until('it waits', async () => (await waiting()) === 1)

    gateway.clock.advance(9999)
    const before = await Promise.race([refused.closed, turn()])
    gateway.clock.advance(1)
    const response = await refused.closed

    expect(before).toBeUndefined()
    expect(response).toStartWith('HTTP/1.1 503 ')
    expect(response).toContain('\r\nretry-after: 5\r\n')
    expect(response).toContain('\r\nconnection: close\r\n')
    expect(response).toEndWith(
      '{"error":{"message":"The gateway is receiving too many large requests. Try again shortly.","type":"server_error","code":"overloaded","param":null}}',
    )
    expect(gateway.upstream.requests).toHaveLength(calls)
  })

  test('a body that does not fit does not stop requests with small bodies', async () => {
    await fillMemory()
    await send(declaring(16), '{')
    await until('it waits', async () => (await waiting()) === 1)

    const response = await gateway.chat(ben.key, HELLO)

    expect(response.status).toBe(200)
    expect(await waiting()).toBe(1)
  })

  test('a body that does not fit leaves the queue when its client disconnects', async () => {
    await fillMemory()
    const leaving = await send(declaring(16), '{')
    await until('it waits', async () => (await waiting()) === 1)

    leaving.leave()

    await until('it waits no more', async () => (await waiting()) === 0)
  })
})

test('one key gets a quarter, and other keys are served', async () => {
  await send(declaring(16), '{')
  await until('the share is used up', async () => (await reserved()) === 16 * MEGABYTE)
  await send(declaring(1), '{')
  await until('the next body of the key waits', async () => (await waiting()) === 1)

  const small = await gateway.chat(ada.key, HELLO)
  const other = await gateway.chat(ben.key, HELLO.padEnd(16 * MEGABYTE))

  expect([small.status, other.status]).toEqual([200, 200])
  expect(await waiting()).toBe(1)
})

test('the admin API has a separate share', async () => {
  await send(declaring(8), '{', {
    key: `Bearer ${ADMIN_KEY}`,
    path: '/admin/api/accounts',
    header: 'authorization',
  })

  await until('its body is reserved', async () => (await reserved()) === 8 * MEGABYTE)
})

test('a key that is unknown reserves nothing', async () => {
  const connection = await send(declaring(16), '{', { key: 'unknown' })

  expect(await connection.response()).toStartWith('HTTP/1.1 401 ')
  expect(await reserved()).toBe(0)
})

test('a body over its limit is refused at once, however full the memory is', async () => {
  await fillMemory()

  const connection = await send(declaring(17), '{')

  expect(await connection.response()).toStartWith('HTTP/1.1 413 ')
})

describe('the memory of a body is given back', () => {
  const large = HELLO.padEnd(MEGABYTE)
  const largeStream = `${HELLO.slice(0, -1)},"stream":true}`.padEnd(MEGABYTE)
  const givenBack = () => until('it is given back', async () => (await reserved()) === 0)

  test('the memory of a body is given back when the JSON answer is complete, and not before', async () => {
    const upstream = gateway.upstream.hold()
    const asked = gateway.chat(ada.key, large)
    const exchange = await upstream
    const during = await reserved()
    await chatAnswer()(exchange)
    await (await asked).text()

    await givenBack()
    expect(during).toBe(MEGABYTE)
  })

  test('the memory of a body is given back when the work for a client that has left is done', async () => {
    const upstream = gateway.upstream.hold()
    const client = await send(declaring(1), large)
    const exchange = await upstream
    client.leave()
    // The reply finds the connection closed after this.
    await fetch(`${gateway.url}/health/live`)
    const during = await reserved()
    await chatAnswer()(exchange)

    await givenBack()
    expect(during).toBe(MEGABYTE)
  })

  test('the memory of a body is given back when a stream has ended', async () => {
    const upstream = gateway.upstream.hold()
    const asked = gateway.chat(ada.key, largeStream)
    const exchange = await upstream
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.write(chunk(ROLE))
    const response = await asked
    const during = await reserved()
    await exchange.write(chunk(HEL + FINISH + DONE))
    await exchange.write('0\r\n\r\n')
    await response.text()

    await givenBack()
    expect([response.status, during]).toEqual([200, MEGABYTE])
  })

  test('the memory of a body is given back when the client of a stream leaves', async () => {
    const upstream = gateway.upstream.hold()
    const client = await send(declaring(1), largeStream)
    const exchange = await upstream
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.write(chunk(HEL))
    await until('the stream arrives', () => client.received.includes('Hel'))

    client.leave()

    await exchange.closed
    await givenBack()
  })

  test.each([
    ['is refused', large.replace('gpt-x', 'gpt-y'), 404],
    ['is not JSON', ' '.repeat(MEGABYTE), 400],
  ])('the memory of a body is given back when a request %s', async (_, body, status) => {
    const response = await gateway.chat(ada.key, body)

    await givenBack()
    expect(response.status).toBe(status)
  })

  test('the memory of a body is given back when its client leaves half-way', async () => {
    const connection = await send(declaring(16), '{')
    await until('it is reserved', async () => (await reserved()) > 0)

    connection.leave()

    await givenBack()
  })

  test('the memory of a body is given back when it stops arriving', async () => {
    const connection = await send(declaring(16), '{')
    await until('it is reserved', async () => (await reserved()) > 0)

    gateway.clock.advance(32_000)

    expect(await connection.closed).toStartWith('HTTP/1.1 408 ')
    await givenBack()
  })

  test('the memory of a body is given back in chunks', async () => {
    const connection = await send('transfer-encoding: chunked\r\nconnection: close', chunkedBody(HELLO))

    expect(await connection.closed).toStartWith('HTTP/1.1 200 ')
    await givenBack()
  })
})
