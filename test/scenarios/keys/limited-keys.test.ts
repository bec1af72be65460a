import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head, resetBeforeHeaders } from '../../support/upstream-replies.ts'
import {
  chat,
  billableRoutes,
  messages,
  startLimitedGateway,
  type Holder,
  type LimitedGateway,
} from '../gateways/limited-gateway.ts'
import { refusalOf } from './refusal-of.ts'
import { HEL, ROLE } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

const READ_TIMEOUT_MS = 300_000

type Exceeded = {
  readonly max_affordable_output_tokens: number
  readonly error: { readonly message: string }
}

type Budgets = { readonly budget_usage: { readonly day: { readonly reserved_usd: string } } }

let gateway: LimitedGateway

beforeEach(async () => {
  gateway = await startLimitedGateway()
})
afterEach(() => gateway.stop())

/**
 * Opens a request or job of this key with a model, and returns a function that ends the request. Until the request is
 * sent, the model has an upstream that can be held back.
 */
async function occupy(holder: Holder, model: string): Promise<() => Promise<void>> {
  const { id, ...row } = await gateway.admin<{ id: string; kind: string }>('GET', `models/${model}`)
  const upstreams = [{ provider: row.kind === 'image' ? 'pictures' : 'main', model }]
  const isJob = row.kind === 'video'
  if (!isJob) await gateway.admin('PUT', `models/${id}`, { ...row, upstreams })
  const open = gateway.gate()
  const running = gateway.send(holder, requestOf[row.kind as keyof typeof requestOf](model))
  if (isJob) await (await running).text()
  else await until('a request runs', () => gateway.upstream.requests.length === 1)
  if (!isJob) await gateway.admin('PUT', `models/${id}`, row)
  return async () => {
    open()
    // What it is answered does not matter: the answers of the upstream are those of a chat.
    await running
  }
}

const requestOf = {
  chat: (model: string) => chat({ model }),
  embedding: () => billableRoutes.embeddings(),
  image: () => billableRoutes.images(),
  video: () => billableRoutes.videos(),
}

describe.each(Object.entries(billableRoutes))('the model of %s', (_, request) => {
  test.each([
    ['account', ({ accountId }: Holder) => `accounts/${accountId}`, 'This account with the model '],
    ['key', ({ keyId }: Holder) => `keys/${keyId}`, 'This API key with the model '],
  ])(
    'while the only slot of its model and its %s is taken, a request is refused, and other models are not',
    async (_, pathOf, words) => {
      const holder = await gateway.aKey()
      const asked = request()
      const { model } = asked.body as { model: string }
      const limits = { concurrent_requests: 1 }
      await gateway.admin('PATCH', pathOf(holder), { per_model: { [model]: { limits } } })
      const end = await occupy(holder, model)

      const refused = await gateway.send(holder, asked)
      const other = await gateway.send(holder, messages({ model: model === 'gpt-x' ? 'claude' : 'gpt-x' }))

      await end()
      expect(await refusalOf(refused)).toMatchObject({
        status: 429,
        code: 'concurrent_requests',
        message: expect.stringContaining(`${words}"${model}" may have 1 open request or job`),
      })
      expect(other.status).toBe(200)
    },
  )
})

/** Every limit and budget beside the requests of a minute, with no room left. */
const NO_ROOM = {
  limits: { tokens_per_minute: 1 },
  budgets: { day: '0', week: '0', month: '0', total: '0' },
}

test.each([
  ['GET', '/v1/models'],
  ['GET', '/v1/models/gpt-x'],
  ['GET', '/v1/key'],
  ['GET', '/v1/balance'],
  ['GET', '/v1/usage'],
  ['GET', '/v1/images/jobs/img_1'],
  ['GET', '/v1/videos/vid_1'],
  ['POST', '/v1/messages/count_tokens'],
])('%s %s counts only as a request of the minute', async (method, path) => {
  const holder = await gateway.aKey({ ...NO_ROOM, limits: { ...NO_ROOM.limits, requests_per_minute: 1 } })
  const send = () =>
    fetch(gateway.url + path, {
      method,
      headers: { 'x-api-key': holder.key },
      ...(method === 'POST' && { body: JSON.stringify(messages({}).body) }),
    })

  const passed = await send()
  await passed.text()
  const refused = await send()

  expect([200, 404]).toContain(passed.status)
  expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'requests_per_minute' })
})

test('a replay is not limited', async () => {
  const holder = await gateway.aKey({ limits: { requests_per_minute: 1 } })
  const request = chat({ model: 'dollar' })

  const first = await gateway.send(holder, request)
  const answer = await first.text()
  await until('the answer is kept', async () => (await gateway.metric('tollgate_replay_bytes')) > 0)
  const replay = await gateway.send(holder, request)

  expect(replay.status).toBe(200)
  expect(replay.headers.get('x-service-replay')).toBe('true')
  expect(await replay.text()).toBe(answer)
})

test('requests after a refusal are refused before their body is read, until its wait is over', async () => {
  const holder = await gateway.aKey({ limits: { requests_per_minute: 1 } })
  await (await gateway.send(holder, chat({ model: 'gpt-x' }))).text()
  await (await gateway.send(holder, chat({ model: 'gpt-x' }))).text()
  const malformed = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': holder.key },
      body: '{',
    })

  gateway.clock.advance(59_000)
  const early = await malformed()
  gateway.clock.advance(1000)
  const later = await malformed()

  expect(early.headers.get('retry-after')).toBe('1')
  expect(await refusalOf(early)).toMatchObject({ status: 429, code: 'requests_per_minute' })
  expect(await refusalOf(later)).toMatchObject({ status: 400, code: 'invalid_json' })
})

test('a budget that running requests reserve is refused for now, and an exhausted one says what would fit', async () => {
  const holder = await gateway.aKey({ budgets: { day: '1.5' } })
  const open = gateway.gate()
  const running = gateway.send(holder, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)

  const reserved = await gateway.send(holder, chat({ model: 'dollar' }))
  open()
  await (await running).text()
  const exceeded = await gateway.send(holder, chat({ model: 'dollar' }))
  const fits = await gateway.send(holder, chat({ model: 'gpt-x', max_tokens: 1000 }))
  await gateway.admin('PATCH', `keys/${holder.keyId}`, { budgets: { day: '1.005' } })
  const tooLong = await gateway.send(holder, chat({ model: 'gpt-x', max_tokens: 1000 }))

  expect(reserved.headers.get('retry-after')).toBe('2')
  expect(await refusalOf(reserved)).toMatchObject({ status: 429, code: 'budget_reserved' })
  expect(await exceeded.clone().json()).toMatchObject({ required_usd: '1', remaining_usd: '0.5' })
  expect(await refusalOf(exceeded)).toMatchObject({
    status: 402,
    type: 'insufficient_balance',
    code: 'budget_exceeded',
  })
  expect(fits.status).toBe(200)
  const { max_affordable_output_tokens: ceiling } = (await tooLong.json()) as Record<string, number>
  expect(ceiling).toBeGreaterThan(100)
  const shorter = await gateway.send(holder, chat({ model: 'gpt-x', max_tokens: ceiling }))
  expect(shorter.status).toBe(200)
})

test('what a refusal by a budget says would fit, fits into the balance too', async () => {
  const { id: accountId } = await gateway.account({ grant: '0.002' })
  const holder = await gateway.aKeyOf(accountId, { budgets: { day: '0.005' } })

  const refused = await gateway.send(holder, chat({ model: 'gpt-x', max_tokens: 1000 }))

  const { max_affordable_output_tokens: ceiling, error } = (await refused.json()) as Exceeded
  const shorter = await gateway.send(holder, chat({ model: 'gpt-x', max_tokens: ceiling }))
  expect(refused.status).toBe(402)
  expect(error.message).toContain(`Set \`max_tokens\` to ${ceiling} or less.`)
  expect(shorter.status).toBe(200)
})

test('a key without budget does not delay the other keys of its account', async () => {
  await gateway.stop()
  gateway = await startLimitedGateway({ environment: { TOLLGATE_HOLD_WAIT_S: '10' } })
  const exhausted = await gateway.aKey({ budgets: { day: '1' } })
  const other = await gateway.aKeyOf(exhausted.accountId)
  const open = gateway.gate()
  const running = gateway.send(exhausted, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)
  const waiting = gateway.send(exhausted, chat({ model: 'dollar' }))
  await until('a request waits', async () => (await gateway.metric('tollgate_hold_waiters')) === 1)

  const passing = gateway.send(other, chat({ model: 'dollar' }))
  await until('another key passes', () => gateway.upstream.requests.length === 2)
  open()

  expect((await passing).status).toBe(200)
  expect((await running).status).toBe(200)
  expect(await refusalOf(await waiting)).toMatchObject({ code: 'budget_exceeded' })
})

test('with balance checks only, budgets still reserve the worst cases of running requests', async () => {
  await gateway.stop()
  gateway = await startLimitedGateway({ environment: { TOLLGATE_TEXT_HOLDS: 'check' } })
  const holder = await gateway.aKey({ budgets: { day: '1' } })
  const open = gateway.gate()
  const running = gateway.send(holder, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)

  const reserved = await gateway.send(holder, chat({ model: 'dollar' }))
  open()
  await (await running).text()

  expect(await refusalOf(reserved)).toMatchObject({ status: 429, code: 'budget_reserved' })
  expect(await gateway.admin('GET', `keys/${holder.keyId}`)).toMatchObject({
    budget_usage: { day: { spent_usd: '1', reserved_usd: '0' } },
  })
})

describe('the slot and the reserve of a request are free after', () => {
  const limits = { limits: { concurrent_requests: 1 }, budgets: { day: '100' } }

  async function expectFree({ keyId, ...holder }: Holder): Promise<void> {
    await until('nothing is reserved', async () => {
      const { budget_usage } = await gateway.admin<Budgets>('GET', `keys/${keyId}`)
      return budget_usage.day.reserved_usd === '0'
    })
    const next = await gateway.send(holder, chat({ model: 'gpt-x' }))
    await next.text()
    expect(next.status).toBe(200)
  }

  test('the slot and the reserve of a request are free after a 504, and after its late answer', async () => {
    const holder = await gateway.aKey(limits)
    const open = gateway.gate()
    const running = gateway.send(holder, chat({ model: 'dollar' }))
    await until('a request runs', () => gateway.upstream.requests.length === 1)

    gateway.clock.advance(READ_TIMEOUT_MS)
    const late = await running
    await late.text()

    expect(late.status).toBe(504)
    await expectFree(holder)
    open()
    await expectFree(holder)
  })

  test('the slot and the reserve of a stream are free after its client disconnects', async () => {
    const holder = await gateway.aKey(limits)
    gateway.upstream.reply(async exchange => {
      await exchange.write(head(200, EVENT_STREAM))
      await exchange.write(chunk(ROLE + HEL))
      await exchange.closed
    })
    const client = new AbortController()
    const stream = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': holder.key },
      body: JSON.stringify(chat({ model: 'streamed', stream: true }).body),
      signal: client.signal,
    })
    await stream.body!.getReader().read()

    client.abort()

    await expectFree(holder)
  })

  test('the slot and the reserve of a request are free after its provider breaks the connection', async () => {
    const holder = await gateway.aKey(limits)
    gateway.upstream.reply(resetBeforeHeaders())

    const failed = await gateway.send(holder, chat({ model: 'dollar' }))
    await failed.text()

    expect(failed.status).toBe(502)
    await expectFree(holder)
  })
})

describe('the admin API', () => {
  test('the use of budgets for single models is shown to the operator and to the holder of the key', async () => {
    const perModel = { dollar: { budgets: { month: '20' } } }
    const holder = await gateway.aKey({ per_model: perModel })
    await gateway.admin('PATCH', `accounts/${holder.accountId}`, { per_model: perModel })
    await (await gateway.send(holder, chat({ model: 'dollar' }))).text()

    const key = await gateway.admin<object>('GET', `keys/${holder.keyId}`)
    const account = await gateway.admin<object>('GET', `accounts/${holder.accountId}`)
    const own = await gateway.read<object>(holder.key, '/v1/key')

    const used = {
      spent_usd: '1',
      reserved_usd: '0',
      remaining_usd: '19',
      resets_at: '2027-02-01T00:00:00.000Z',
    }
    const shown = { per_model: { dollar: { budget_usage: { month: used } } }, budget_usage: {} }
    expect(key).toMatchObject(shown)
    expect(account).toMatchObject(shown)
    expect(own).toMatchObject({ ...shown, account: shown })
  })

  test('the admin API changes and shows the limits of keys and accounts, which the holder sees', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 60 }, budgets: { month: '20' } })
    await gateway.admin('PATCH', `accounts/${holder.accountId}`, { budgets: { day: '5' } })
    await (await gateway.send(holder, chat({ model: 'gpt-x' }))).text()

    const shown = await gateway.admin('GET', `keys/${holder.keyId}`)
    const own = await gateway.read<object>(holder.key, '/v1/key')

    const ofKey = {
      limits: { requests_per_minute: 60, tokens_per_minute: null, concurrent_requests: null },
      budgets: { day: null, week: null, month: '20', total: null },
      per_model: {},
      budget_usage: { month: { reserved_usd: '0', resets_at: '2027-02-01T00:00:00.000Z' } },
    }
    expect(shown).toMatchObject({ id: holder.keyId, ...ofKey })
    expect(own).toMatchObject({
      object: 'key',
      id: holder.keyId,
      ...ofKey,
      account: { budgets: { day: '5' } },
    })
  })

  test.each([
    [{ limits: { rpm: 1 } }, 'limits.rpm', 'did you mean requests_per_minute?'],
    [{ budgets: { month: 20 } }, 'budgets.month', 'write a decimal string of dollars such as "20"'],
    [{ budget: {} }, 'budget', 'is not a field'],
    [{}, undefined, 'The body changes nothing.'],
  ])('the admin API refuses %p and says what to write', async (body, param, remedy) => {
    const { keyId } = await gateway.aKey()

    const response = await fetch(`${gateway.url}/admin/api/keys/${keyId}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer tg_admin_for_tests' },
      body: JSON.stringify(body),
    })

    const { error } = (await response.json()) as { error: { message: string; param: string | null } }
    expect(response.status).toBe(400)
    expect(error.message).toContain(remedy)
    expect(error.param ?? undefined).toBe(param)
  })

  test('the admin API writes each change to the audit log', async () => {
    const { keyId } = await gateway.aKey({ budgets: { day: '5' } })

    const { data } = await gateway.admin<{ data: object[] }>('GET', `audit?subject=${keyId}&limit=1`)

    expect(data).toMatchObject([{ action: 'key.limits', subject: keyId, detail: '{"budgets":{"day":"5"}}' }])
  })
})
