import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Bytes } from '../../../src/domain/bytes.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'

const MEGABYTE = 1 << 20
const chat = (text: string) =>
  JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: text }] })

let gateway: TestGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startTestGateway({
    environment: { TOLLGATE_MAX_BODY_MB: '1', TOLLGATE_REPLAY_TTL_S: '60' },
  })
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

function post(path: string, body: Bytes | string, headers: Record<string, string>, key = ada.key) {
  return fetch(gateway.url + path, { method: 'POST', body, headers: { 'x-api-key': key, ...headers } })
}

const encodings = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
] as const

describe.each(encodings)('a body in %s', (encoding, encode) => {
  const headers = { 'content-encoding': encoding }
  const bytes = (text: string) => new Uint8Array(encode(text))

  test('a compressed body is decoded on a text route', async () => {
    const response = await post('/v1/chat/completions', bytes(chat(`Hello in ${encoding}`)), headers)

    expect(response.status).toBe(200)
    expect(response.headers.get('x-service-cost-usd')).toMatch(/^0\.\d+$/)
  })

  test('a compressed body is identical to the same body without compression: it is replayed', async () => {
    const text = chat(`The same in ${encoding}`)

    const first = await post('/v1/chat/completions', bytes(text), headers)
    const second = await post('/v1/chat/completions', text, {})

    expect([first.status, second.headers.get('x-service-replay')]).toEqual([200, 'true'])
  })

  test('a compressed body is decoded on an image route', async () => {
    const text = JSON.stringify({ model: 'sandbox-image', prompt: 'A red fox [sandbox delay_ms=0]' })

    const response = await post('/v1/images/generations', bytes(text), headers)

    expect(await response.json()).toMatchObject({ cost_usd: '0.04' })
  })

  test('a compressed body is refused by its decoded size, with little of it in memory', async () => {
    const response = await post('/v1/chat/completions', bytes('a'.repeat(200 * MEGABYTE)), headers)

    expect(await refusalOf(response)).toMatchObject({ status: 413, code: 'request_too_large' })
  })

  test('a compressed body is refused if it is not in this encoding', async () => {
    const response = await post('/v1/chat/completions', chat('Plain'), headers)

    expect(await refusalOf(response)).toMatchObject({
      status: 400,
      code: 'malformed_request',
      param: 'content-encoding',
    })
  })

  test('a compressed body is not decoded without a key', async () => {
    const response = await post('/v1/chat/completions', chat('Plain'), headers, 'tg_live_unknown')

    expect(response.status).toBe(401)
  })

  test('a compressed body is refused if it is cut off', async () => {
    const whole = bytes(chat('x'.repeat(1000)))

    const response = await post('/v1/chat/completions', whole.subarray(0, whole.length - 8), headers)

    expect(response.status).toBe(400)
  })
})

test('the name of an encoding has no case', async () => {
  const body = new Uint8Array(gzipSync(chat('In capitals')))

  expect((await post('/v1/chat/completions', body, { 'content-encoding': ' GZip ' })).status).toBe(200)
})

test('identity counts as no encoding', async () => {
  const response = await post('/v1/chat/completions', chat('Identity'), { 'content-encoding': 'identity' })

  expect(response.status).toBe(200)
})

test.each(['br', 'gzip, gzip', 'x'])('the reply is 415 unsupported_encoding for %s', async encoding => {
  const response = await post('/v1/chat/completions', chat('Other'), { 'content-encoding': encoding })

  expect(await refusalOf(response)).toMatchObject({ status: 415, code: 'unsupported_encoding' })
})

test.each([
  [23, 200],
  [24, 400],
])('zstd with a window of 2^%i bytes gets a %i: 8 MB are the most', async (windowLog, status) => {
  const body = zstdFrame(chat(`A window of 2^${windowLog}`), windowLog)

  expect((await post('/v1/chat/completions', body, { 'content-encoding': 'zstd' })).status).toBe(status)
})

/** A frame by RFC 8878 with one block that is not compressed. */
function zstdFrame(text: string, windowLog: number): Bytes {
  const content = Buffer.from(text)
  const blockHeader = Buffer.alloc(4)
  blockHeader.writeUInt32LE((content.length << 3) | 1)
  const header = [0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]
  return new Uint8Array(Buffer.concat([Buffer.from(header), blockHeader.subarray(0, 3), content]))
}

describe('a byte order mark is ignored', () => {
  test('a byte order mark is ignored on a text route, and the request is identical to the one without it', async () => {
    const text = chat('With a mark')

    const first = await post('/v1/chat/completions', `\uFEFF${text}`, {})
    const second = await post('/v1/chat/completions', text, {})

    expect([first.status, second.headers.get('x-service-replay')]).toEqual([200, 'true'])
  })

  test('a byte order mark is ignored on an image route', async () => {
    const body = `\uFEFF${JSON.stringify({ model: 'sandbox-image', prompt: 'A fox' })}`

    expect((await post('/v1/images/generations', body, {})).status).toBe(200)
  })
})
