import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { redisProgram, RedisServer } from '../../support/redis-server.ts'
import { chatModel, DOLLAR_A_REQUEST } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const program = await redisProgram()
const ADMIN_KEY = 'tg_admin_shared_cache'
const GRANT_USD = 1000
/**
 * A call of the cache has a tenth of a second; the rest is for a busy machine. A request that waits for a frozen or
 * dead server without a limit never ends, because the server is repaired after the last request.
 */
const LATENCY_MS_MAX = 10_000

type Check = {
  readonly name: string
  readonly ok: boolean
  readonly is_warning?: true
  readonly detail: string
}
type Doctor = { readonly checks: readonly Check[]; readonly settings: unknown }
const checkIn = ({ checks }: Doctor) => checks.find(({ name }) => name === 'shared cache')

describe.skipIf(program === undefined)('a gateway with a Valkey or Redis server', () => {
  let server: RedisServer
  /** Answers each request with its own text. */
  let upstream: ReturnType<typeof Bun.serve>
  let calls = 0
  const ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    server = await RedisServer.start(program!)
    upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        // The check of doctor.
        if (request.method === 'GET') return Response.json({ object: 'list', data: [] })
        calls += 1
        const { messages } = (await request.json()) as { messages: { content: string }[] }
        const message = { role: 'assistant', content: messages[0]!.content }
        return Response.json({
          id: `chatcmpl-${calls}`,
          object: 'chat.completion',
          created: 1,
          model: 'upstream-model',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        })
      },
    })
  })
  afterAll(async () => {
    await upstream.stop(true)
    await server.kill()
  })
  beforeEach(() => {
    calls = 0
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  /** A data folder, with the secret key of another one if given. */
  function aFolder(secretOf?: string): string {
    const folder = aDataFolder()
    const catalog = {
      providers: [
        { id: 'main', kind: 'openai-compatible', base_url: `${upstream.url.origin}/v1`, api_key: 'secret' },
      ],
      models: [chatModel('gpt-x', { pricing: DOLLAR_A_REQUEST })],
    }
    writeFileSync(join(folder, 'catalog.json'), JSON.stringify(catalog))
    if (secretOf !== undefined) cpSync(join(secretOf, 'secret.key'), join(folder, 'secret.key'))
    return folder
  }

  const settingsOf = (folder: string) => ({
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_CATALOG: join(folder, 'catalog.json'),
    TOLLGATE_REDIS_URL: server.url,
  })

  async function start(folder: string, environment: Record<string, string> = {}) {
    const gateway = await startGatewayProcess(folder, { ...settingsOf(folder), ...environment })
    ends.push(() => gateway.kill())
    return { ...gateway, ...callsOf(gateway) }
  }

  /** A gateway in this process, with a clock that stands, so that no answer of the server is too late for it. */
  async function startHere(folder: string, environment: Record<string, string> = {}) {
    const gateway = await startTestGateway({
      environment: {
        ...settingsOf(folder),
        TOLLGATE_DATA_DIR: folder,
        TOLLGATE_REPLAY_TTL_S: '60',
        ...environment,
      },
      overrides: { clock: fakeClock(Date.now()) },
    })
    ends.push(() => gateway.stop())
    return callsOf(gateway)
  }

  function callsOf(gateway: { readonly url: string }) {
    const admin = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
      const response = await fetch(`${gateway.url}/admin/api/${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return (await response.json()) as Answer
    }
    return {
      admin,
      account: async () => {
        const { id } = await admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
        await admin('POST', `accounts/${id}/grants`, { amount_usd: String(GRANT_USD) })
        const { id: keyId, key } = await admin<{ id: string; key: string }>('POST', `accounts/${id}/keys`, {})
        return { id, keyId, key }
      },
      left: async (id: string) => {
        const { available_usd } = await admin<{ available_usd: string }>('GET', `accounts/${id}`)
        return Number(available_usd)
      },
      metric: async (series: string) => {
        const headers = { authorization: `Bearer ${ADMIN_KEY}` }
        const text = await (await fetch(`${gateway.url}/metrics`, { headers })).text()
        return Number(
          text
            .split('\n')
            .find(line => line.startsWith(`${series} `))
            ?.slice(series.length + 1),
        )
      },
      ask: async (key: string, content: string) => {
        const begunMs = performance.now()
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content }] }),
        })
        const body = (await response.json()) as { choices?: { message: { content: string } }[] }
        return {
          status: response.status,
          content: body.choices?.[0]?.message.content,
          isReplay: response.headers.get('x-service-replay') === 'true',
          ms: performance.now() - begunMs,
        }
      },
    }
  }

  /** Resolves when the server has an answer that it did not have. */
  async function stored(answers = 1): Promise<void> {
    const stranger = await server.stranger()
    const kept = async () => ((await stranger.send('KEYS', ['*:answer:*'])) as string[]).length
    await until('the answer is stored', async () => (await kept()) >= answers)
    stranger.close()
  }

  async function flush(): Promise<void> {
    const stranger = await server.stranger()
    await stranger.send('FLUSHALL', [])
    stranger.close()
  }

  test('a gateway that was killed finds its kept answers when it is started again, and charges them once', async () => {
    await flush()
    const folder = aFolder()
    // Without memory, a replay is what the server had.
    const before = await start(folder, { TOLLGATE_REPLAY_MB: '0' })
    const { id, key } = await before.account()
    await until('the answer is stored', async () => (await before.ask(key, 'hello')).isReplay)
    const paid = calls
    await before.kill()

    const after = await startHere(folder)
    const replay = await after.ask(key, 'hello')

    expect(replay).toMatchObject({ status: 200, content: 'hello', isReplay: true })
    expect(calls).toBe(paid)
    expect(await after.left(id)).toBe(GRANT_USD - paid)
  })

  test('two gateways with different books share no answers, even with the same secret key and the same numbers', async () => {
    await flush()
    const folder = aFolder()
    const one = await startHere(folder)
    const two = await startHere(aFolder(folder))
    const [ada, eve] = [await one.account(), await two.account()]

    await one.ask(ada.key, 'hello')
    await stored()
    const other = await two.ask(eve.key, 'hello')

    expect(ada.keyId).not.toBe(eve.keyId)
    expect(other).toMatchObject({ status: 200, isReplay: false })
    expect(calls).toBe(2)
    expect([await one.left(ada.id), await two.left(eve.id)]).toEqual([GRANT_USD - 1, GRANT_USD - 1])
  })

  test('values that someone else wrote are missing: the model is called and charged, and the operator is told', async () => {
    await flush()
    const gateway = await startHere(aFolder(), { TOLLGATE_REPLAY_MB: '0' })
    const { id, key } = await gateway.account()
    await gateway.ask(key, 'one')
    await gateway.ask(key, 'two')
    await stored(2)
    const stranger = await server.stranger()
    const keys = (await stranger.send('KEYS', ['*:answer:*'])) as [string, string]
    const values = [(await stranger.getBuffer(keys[0]))!, (await stranger.getBuffer(keys[1]))!] as const
    await stranger.set(keys[0], values[1])
    await stranger.set(keys[1], values[0])
    stranger.close()

    const asked = [await gateway.ask(key, 'one'), await gateway.ask(key, 'two')]
    const doctor = await gateway.admin<Doctor>('GET', 'doctor')
    const check = checkIn(doctor)

    expect(asked.map(({ content, isReplay }) => [content, isReplay])).toEqual([
      ['one', false],
      ['two', false],
    ])
    expect(await gateway.left(id)).toBe(GRANT_USD - 4)
    expect(await gateway.metric('tollgate_shared_cache_rejected_total')).toBe(2)
    expect(check).toMatchObject({ ok: true, is_warning: true })
    expect(check!.detail).toContain('had 2 values')
    expect(JSON.stringify(doctor)).not.toContain(server.password)
  })

  test('doctor and the metrics say whether the server can be used, and the gateway starts without it', async () => {
    const refused = await start(aFolder(), {
      TOLLGATE_REDIS_URL: `redis://:another-password@127.0.0.1:${server.port}`,
    })
    const { key } = await refused.account()

    const answer = await refused.ask(key, 'hello')
    let doctor: Doctor
    // A busy server may answer later than the check waits.
    await until('doctor says why', async () => {
      doctor = await refused.admin<Doctor>('GET', 'doctor')
      return checkIn(doctor)?.detail.includes('It refused: WRONGPASS') === true
    })

    expect(answer).toMatchObject({ status: 200, content: 'hello' })
    expect(checkIn(doctor!)).toMatchObject({ ok: false })
    expect(await refused.metric('tollgate_shared_cache_up')).toBe(0)
    await until('it is logged', () => refused.output().includes('the shared cache does not answer'))
    expect(JSON.stringify([doctor!, refused.output()])).not.toContain('another-password')
  })

  test.skipIf(Bun.which('openssl') === null)(
    'with rediss, the gateway uses only a server whose certificate it trusts',
    async () => {
      const folder = aDataFolder()
      const certificate = join(folder, 'cert.pem')
      makeCertificate(join(folder, 'key.pem'), certificate)
      const options = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(certificate) }
      const proxy = createServer(options, client => {
        const plain = connect(server.port, '127.0.0.1')
        client.on('error', () => plain.destroy())
        client.pipe(plain).pipe(client)
      })
      await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
      const { port } = proxy.address() as AddressInfo
      const url = { TOLLGATE_REDIS_URL: `rediss://:${server.password}@localhost:${port}/1` }
      const checkOf = async (gateway: Awaited<ReturnType<typeof start>>) =>
        checkIn(await gateway.admin<Doctor>('GET', 'doctor'))

      const trusting = await start(aFolder(), { ...url, NODE_EXTRA_CA_CERTS: certificate })
      const untrusting = await start(aFolder(), url)

      await until('one uses the server', async () => (await checkOf(trusting))?.ok === true)
      await until('the other refuses its certificate', async () => {
        const check = await checkOf(untrusting)
        expect(check?.ok).toBe(false)
        return /self.signed/i.test(check?.detail ?? '')
      })
      proxy.close()
    },
  )

  const faults: [string, () => void | Promise<void>, () => void | Promise<void>][] = [
    ['is killed', () => server.kill(), () => server.restart()],
    ['is frozen', () => server.freeze(), () => server.thaw()],
    ['is emptied', flush, () => undefined],
  ]
  test.each(faults)(
    'under load, a server that %s causes no error, no wrong answer, no wrong charge and no long wait',
    async (_, fail, repair) => {
      await flush()
      // Without memory, only the server has kept answers.
      const gateway = await start(aFolder(), { TOLLGATE_REPLAY_MB: '0' })
      const { id, key } = await gateway.account()
      const [pairs, workers] = [120, 8]
      const replies: Awaited<ReturnType<typeof gateway.ask>>[] = []
      const wrong: unknown[] = []
      // A server that answers too late at first, on a busy machine, is not asked for some seconds.
      await until('the server has an answer', async () => {
        replies.push(await gateway.ask(key, 'first'))
        return replies.at(-1)!.isReplay
      })
      let next = 0
      const work = async () => {
        for (let pair = (next += 1); pair <= pairs; pair = next += 1) {
          if (pair === pairs / 3) await fail()
          for (const reply of [await gateway.ask(key, `${pair}`), await gateway.ask(key, `${pair}`)]) {
            replies.push(reply)
            if (reply.status !== 200 || reply.content !== `${pair}`) wrong.push(reply)
          }
        }
      }

      await Promise.all(Array.from({ length: workers }, work))
      await repair()
      const paid = replies.filter(({ isReplay }) => !isReplay).length

      expect(wrong).toEqual([])
      // Each text at least once, and not all of them always.
      expect(paid).toBeWithin(1 + pairs, replies.length)
      expect(calls).toBe(paid)
      expect(await gateway.left(id)).toBe(GRANT_USD - paid)
      expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(LATENCY_MS_MAX)
      expect(await gateway.admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
    },
  )
})

function makeCertificate(key: string, certificate: string): void {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost']
  const files = ['-keyout', key, '-out', certificate, '-days', '2', '-addext', 'subjectAltName=DNS:localhost']
  const made = Bun.spawnSync(['openssl', 'req', '-x509', ...kind, ...files])
  if (!made.success) throw new Error(made.stderr.toString())
}
