import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestAccount } from '../../support/gateway.ts'
import { turn } from '../../support/turn.ts'
import { rawConnection, rawRequest } from '../../../src/http1/testing/raw-http.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { ADMIN_KEY, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

const MEGABYTE = 1 << 20
const HELLO = '{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}'

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({ environment: { TOLLGATE_MAX_BODY_MB: '1' } })
  ada = await gateway.account({ grant: '1' })
})
afterAll(() => gateway.stop())

// Every request here is refused before it reaches the upstream.
afterEach(async () => {
  expect(gateway.upstream.requests).toHaveLength(0)
  expect(await ada.balance()).toMatchObject({ available_usd: '1', held_usd: '0' })
})

describe('404 for any POST below /v1/ that is not a route, with a key and without:', () => {
  test.each([
    '/v1/models',
    '/v1/balance',
    '/v1/nothing',
    '/v1/chat/completions/',
    '/v1/chat/completions/x',
    '/v1/responses/resp_1',
    '/v1/embeddings/',
    '/v1/messages/batches',
    '/v1/messages/count_tokens/',
    '/v1/completions',
    '/v1/',
    '/v1/chat%2Fcompletions',
  ])(
    'the reply is 404 for any POST below /v1/ that is not a route, with a key and without: %s',
    async path => {
      for (const headers of [{ 'x-api-key': ada.key }, {}]) {
        const response = await fetch(gateway.url + path, { method: 'POST', headers, body: HELLO })

        expect(response.headers.get('x-should-retry')).toBe('false')
        expect(await refusalOf(response)).toMatchObject({ status: 404, code: 'not_found' })
      }
    },
  )
})

describe('405 with the allowed methods for', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['PUT', '/v1/chat/completions', 'POST'],
    ['GET', '/v1/responses', 'POST'],
    ['DELETE', '/v1/embeddings', 'POST'],
    ['GET', '/v1/messages?beta=true', 'POST'],
    ['GET', '/v1/messages/count_tokens', 'POST'],
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['PATCH', '/v1/models/gpt-x', 'GET, HEAD'],
    ['PUT', '/v1/balance', 'GET, HEAD'],
    ['DELETE', '/v1/usage?limit=1', 'GET, HEAD'],
    ['POST', '/cabinet/api/public/models', 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
  ])('the reply is 405 with the allowed methods for %s %s', async (method, path, allow) => {
    const response = await fetch(gateway.url + path, { method, headers: { 'x-api-key': ada.key } })

    expect(response.headers.get('allow')).toBe(allow)
    expect(await refusalOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' })
  })

  test.each([
    ['GET', '/v1/messages', 405],
    ['PUT', '/v1/messages/count_tokens', 405],
    ['POST', '/v1/messages/batches', 404],
    ['POST', '/v1/messages/', 404],
  ])(
    'the reply is 405 with the allowed methods for %s %s, in the format of the SDKs that would send it',
    async (method, path, status) => {
      const response = await fetch(gateway.url + path, { method, headers: { 'x-api-key': ada.key } })

      expect(response.status).toBe(status)
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
      expect(await response.json()).toMatchObject({ type: 'error', error: { details: expect.anything() } })
    },
  )

  test.each(['/v1/messagesx', '/v1/models/x', '/v1/nothing'])(
    'the reply is 405 with the allowed methods for POST %s, in the plain envelope',
    async path => {
      const response = await fetch(gateway.url + path, { method: 'POST' })

      expect(response.headers.get('request-id')).toBeNull()
      expect(await response.json()).not.toHaveProperty('type')
    },
  )

  test.each([
    ['GET', '/v1/models', 200],
    ['GET', '/v1/models/none', 404],
    ['GET', '/v1/balance', 200],
    ['POST', '/v1/complete', 404],
    ['GET', '/nothing', 404],
    ['DELETE', '/v1/models', 405],
    ['GET', '/v1/images/jobs/img_1', 404],
  ])(
    'the reply is 405 with the allowed methods for %s %s to a client that sends anthropic-version has request-id',
    async (method, path, status) => {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { 'x-api-key': ada.key, 'anthropic-version': '2023-06-01' },
      })
      const body: unknown = await response.json()

      expect(response.status).toBe(status)
      expect(response.headers.get('request-id')).toStartWith('req_')
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
      if (status >= 400) expect(body).toMatchObject({ type: 'error', error: { details: expect.anything() } })
    },
  )

  test('the reply to HEAD without a GET is 405 with the allowed methods, without a body', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'HEAD' })

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
    expect(response.headers.get('x-request-id')).toStartWith('req_')
    expect(await response.text()).toBe('')
  })
})

describe('a 404 says which route to use:', () => {
  test.each<[string, string, string]>([
    ['POST', '/v1/completions', 'Text completions are not served. Use POST /v1/chat/completions'],
    [
      'POST',
      '/v1/engines/gpt-x/completions',
      'Text completions are not served. Use POST /v1/chat/completions',
    ],
    ['POST', '/v1/complete', 'Text completions are not served. Use POST /v1/messages'],
    [
      'POST',
      '/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21',
      'Use POST /v1/chat/completions, with the name of the model in "model".',
    ],
    [
      'POST',
      '/openai/deployments/gpt-x/embeddings',
      'Use POST /v1/embeddings, with the name of the model in "model".',
    ],
    ['GET', '/openai/deployments/gpt-x', 'Deployments are not served.'],
    ['POST', '/openai/v1/chat/completions', 'Did you mean /v1/chat/completions?'],
    ['POST', '/anthropic/v1/messages', 'Did you mean /v1/messages?'],
    ['GET', '/api/v1/models', 'Did you mean /v1/models?'],
    ['POST', '/v1beta/models/gemini-x:generateContent', 'Use POST /v1/chat/completions'],
    ['POST', '/api/chat', 'Use POST /v1/chat/completions'],
    ['POST', '/v1/files', 'Files are not served. Send the content inside the request.'],
    ['GET', '/v1/files/file_1/content', 'Files are not served.'],
    ['POST', '/v1/messages/batches', 'Batches are not served.'],
    ['POST', '/v1/batches', 'Batches are not served.'],
    ['GET', '/v1/responses/resp_1', 'Stored responses are not served. Send the conversation in "input".'],
    ['POST', '/v1/audio/transcriptions', 'Audio routes are not served.'],
    ['POST', '/v1/moderations', 'Moderations are not served.'],
    ['POST', '/v1/assistants', 'Assistants, threads and vector stores are not served.'],
    ['POST', '/v1/images/variations', 'Use POST /v1/images/edits'],
  ])('a 404 says which route to use: %s %s', async (method, path, help) => {
    const response = await fetch(gateway.url + path, { method, headers: { 'x-api-key': ada.key } })
    const { error } = (await response.json()) as { error: { message: string } }

    expect(response.status).toBe(404)
    expect(error.message).toStartWith(`No route matches ${method} ${path.split('?')[0]}. ${help}`)
  })

  test.each([
    ['POST', '/v1/nothing'],
    ['GET', '/nothing/completionsx'],
    ['GET', '/robots.txt'],
  ])('%s %s resembles no route', async (method, path) => {
    const { error } = (await (await fetch(gateway.url + path, { method })).json()) as {
      error: { message: string }
    }

    expect(error.message).toBe(`No route matches ${method} ${path}.`)
  })
})

test('HEAD has the status and headers of GET, and no body', async () => {
  const ask = (method: string) =>
    fetch(`${gateway.url}/v1/balance`, { method, headers: { 'x-api-key': ada.key } })
  const [got, head] = await Promise.all([ask('GET'), ask('HEAD')])

  expect(head.status).toBe(200)
  expect(head.headers.get('content-type')).toBe('application/json')
  expect(head.headers.get('content-length')).toBe(String((await got.text()).length))
  expect(await head.text()).toBe('')
})

test('the error for a very long path contains only its beginning', async () => {
  const response = await fetch(`${gateway.url}/v1/${'x'.repeat(5000)}`)

  expect(response.status).toBe(404)
  expect((await response.text()).length).toBeLessThan(400)
})

test('an unknown path is 404 for every method', async () => {
  const responses = await Promise.all(
    ['GET', 'PUT', 'DELETE'].map(method => fetch(`${gateway.url}/nothing`, { method })),
  )

  for (const response of responses) {
    expect(await refusalOf(response)).toMatchObject({ status: 404, code: 'not_found' })
  }
})

const head = (more: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: ${ada.key}\r\n${more}\r\n\r\n`

describe('413 request_too_large for', () => {
  test.each([
    ['a byte over the limit', MEGABYTE + 1],
    ['much more than any limit', 99_999_999_999],
    ['the largest integer', Number.MAX_SAFE_INTEGER],
  ])(
    'the reply is 413 request_too_large for a declared length of %s, before a byte of the body is sent',
    async (_, length) => {
      const connection = rawConnection(gateway.url)
      void connection.write(head(`Content-Length: ${length}`))

      const response = await connection.closed

      expect(response).toStartWith('HTTP/1.1 413 ')
      expect(response).toMatch(/^x-request-id: req_/m)
      expect(response).toEndWith(
        '{"error":{"message":"The request body exceeds the limit of 1 MB. The gateway refused it, and called no provider.","type":"request_too_large","code":"request_too_large","param":null}}',
      )
    },
  )

  test('the reply is 413 request_too_large for a chunked body, as soon as it exceeds the limit', async () => {
    const connection = rawConnection(gateway.url)
    void connection.write(head('Transfer-Encoding: chunked'))
    const chunk = `80000\r\n${' '.repeat(0x80000)}\r\n`
    void connection.write(chunk + chunk)
    void connection.write('1\r\n \r\n')

    const response = await connection.closed

    expect(response).toStartWith('HTTP/1.1 413 ')
    expect(response).toContain('"request_too_large"')
  })

  test('the reply is 413 request_too_large for a limit below one megabyte, which the message names', async () => {
    const small = await startTestGateway({ environment: { TOLLGATE_MAX_BODY_MB: '0.5' } })
    const { key } = await small.account()

    const response = await small.chat(key, ' '.repeat(MEGABYTE))

    expect(await response.text()).toContain('The request body exceeds the limit of 0.5 MB.')
    await small.stop()
  })

  test('a body of exactly the limit is not refused', async () => {
    const body = HELLO.replace('gpt-x', 'gpt-y').padEnd(MEGABYTE, ' ')

    const refusal = await refusalOf(await gateway.chat(ada.key, body))

    expect(refusal).toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('408 for an upload that', () => {
  test.each([
    ['stops in the middle', `Content-Length: ${HELLO.length}`, HELLO.slice(0, 10)],
    ['stops in the middle of a large body', `Content-Length: ${MEGABYTE}`, HELLO],
    ['never starts', `Content-Length: ${HELLO.length}`, ''],
    ['stops between two chunks', 'Transfer-Encoding: chunked', '5\r\n{"mod\r\n'],
  ])('the reply is 408 for an upload that %s, and closes the connection', async (_, framing, sent) => {
    const connection = rawConnection(gateway.url)
    await connection.write(head(framing) + sent)
    // When this request is answered, the server has read what was sent before.
    await fetch(`${gateway.url}/health/live`)

    gateway.clock.advance(29_000)
    const before = await Promise.race([connection.closed, turn()])
    gateway.clock.advance(2000)
    const response = await connection.closed

    expect(response).toStartWith('HTTP/1.1 408 ')
    expect(response).toContain('"body_timeout"')
    expect(before).toBeUndefined()
  })
})

describe.each([
  ['a text route', '/v1/chat/completions', 'x-api-key'],
  ['an image route', '/v1/images/generations', 'x-api-key'],
  ['a video route', '/v1/videos', 'x-api-key'],
  ['the admin API', '/admin/api/accounts', 'authorization'],
])('an upload to %s', (_, path, header) => {
  test('an upload is ended with 408 when it brings less than 1 KB/s after 30 seconds', async () => {
    const key = header === 'x-api-key' ? ada.key : `Bearer ${ADMIN_KEY}`
    const connection = rawConnection(gateway.url)
    await connection.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\n${header}: ${key}\r\ncontent-length: 60000\r\n\r\n{"a":"`,
    )
    const states: (string | undefined)[] = []
    for (const seconds of [20, 9, 3]) {
      await connection.write('x'.repeat(100))
      // When this request is answered, the server has read what was sent before.
      await fetch(`${gateway.url}/health/live`)
      gateway.clock.advance(seconds * 1000)
      states.push(await Promise.race([connection.closed.then(() => 'closed'), turn().then(() => 'open')]))
    }
    const response = await connection.closed

    expect(states.slice(0, 2)).toEqual(['open', 'open'])
    expect(response).toStartWith('HTTP/1.1 408 ')
    expect(response).toContain('"body_timeout"')
    expect(response).toContain('\r\nconnection: close\r\n')
  })
})

describe('no input hangs or breaks the server:', () => {
  const chat = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n`
  const hello = `Content-Length: ${HELLO.length}\r\n`

  test.each([
    ['text that is not HTTP', 'hello there\r\n\r\n', 400],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400],
    ['no host', `POST /v1/chat/completions HTTP/1.1\r\n${hello}\r\n${HELLO}`, 400],
    ['two lengths', `${chat}${hello}Content-Length: 3\r\n\r\n${HELLO}`, 400],
    ['a length and chunks', `${chat}${hello}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a length that is not a number', `${chat}Content-Length: ten\r\n\r\n${HELLO}`, 400],
    ['a negative length', `${chat}Content-Length: -1\r\n\r\n${HELLO}`, 400],
    ['very long headers', `${chat}x: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
    ['a host with a space', 'GET /v1/usage HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['a host with an open bracket', 'GET /v1/usage HTTP/1.1\r\nHost: [::\r\n\r\n', 400],
    ['an unusual host without a key', 'GET /v1/usage HTTP/1.1\r\nHost: [::1]:1\r\n\r\n', 401],
    ['a path with two slashes', 'GET //v1/usage HTTP/1.1\r\nHost: a\r\n\r\n', 404],
    ['a path with dot segments', 'GET /v1/../metrics HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ])('no input hangs or breaks the server: %s', async (_, request, status) => {
    const response = await rawRequest(gateway.url, request)

    expect(response).toStartWith(`HTTP/1.1 ${status} `)
  })

  test('chunks with an invalid length end the connection', async () => {
    const connection = rawConnection(gateway.url)
    void connection.write(
      `${chat}x-api-key: ${ada.key}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${HELLO}\r\n0\r\n\r\n`,
    )

    expect(await connection.closed).toStartWith('HTTP/1.1 400 ')
  })
})

test('a connection stays open after a refused body that was not read', async () => {
  const connection = rawConnection(gateway.url)
  void connection.write(`POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * MEGABYTE}\r\n\r\n`)
  const refused = await connection.response()
  void connection.write(' '.repeat(2 * MEGABYTE))
  void connection.write('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')

  const all = await connection.closed

  expect(refused).toStartWith('HTTP/1.1 404 ')
  expect(all.slice(refused.length)).toStartWith('HTTP/1.1 200 ')
})

test('the time limits of connections are settings', async () => {
  const clock = fakeClock()
  const short = await startTestGateway({
    environment: { TOLLGATE_HEAD_TIMEOUT_S: '2', TOLLGATE_IDLE_TIMEOUT_S: '5', TOLLGATE_SANDBOX: 'off' },
    overrides: { clock },
  })
  const [slow, idle] = [rawConnection(short.url), rawConnection(short.url)]
  await slow.write('GET /health/live HTTP/1.1\r\nx: ')
  await idle.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n')
  await idle.response()
  await rawRequest(short.url, 'GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')

  clock.advance(3000)
  const refused = await slow.closed
  clock.advance(3000)
  const answered = await idle.closed
  await short.stop()

  expect(refused).toStartWith('HTTP/1.1 408 ')
  expect(answered).toStartWith('HTTP/1.1 200 ')
})
