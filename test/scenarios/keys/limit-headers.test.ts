import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import {
  billableRoutes,
  chat,
  messages,
  startLimitedGateway,
  type Asked,
  type LimitedGateway,
} from '../gateways/limited-gateway.ts'
import { refusalOf } from './refusal-of.ts'
import { until } from '../../support/until.ts'

let gateway: LimitedGateway

beforeAll(async () => {
  gateway = await startLimitedGateway()
})
afterAll(() => gateway.stop())

const LIMITS = { requests_per_minute: 60, tokens_per_minute: 60_000 }

/** The rate limit headers of a reply. */
function limitsIn({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')))
}

describe('the limits of a key in the headers of its replies', () => {
  test('the limits of a key are in the headers that clients of OpenAI read', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 60, tokens_per_minute: 60_000 } })

    const { headers } = await gateway.send(holder, chat({ model: 'gpt-x' }))

    expect(headers.get('x-ratelimit-limit-requests')).toBe('60')
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('59')
    expect(headers.get('x-ratelimit-reset-requests')).toBe('1s')
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('60000')
  })

  test('the limits of a key are in the headers that clients of Anthropic read, on messages', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 60 } })

    const resetMs = gateway.clock.now() + 1000

    const { headers } = await gateway.send(holder, messages({}))

    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('59')
    expect(headers.get('anthropic-ratelimit-requests-reset')).toBe(
      new Date(resetMs).toISOString().replace('.000Z', 'Z'),
    )
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
  })

  test.each(Object.entries(billableRoutes))(
    'the limits of a key are in every reply on the route for %s',
    async (_, request) => {
      const holder = await gateway.aKey({ limits: LIMITS })

      const reply = await gateway.send(holder, request())
      await reply.text()

      expect(Object.keys(limitsIn(reply))).toHaveLength(6)
    },
  )

  test('the limits of a key are in the replies to its reads', async () => {
    const { key } = await gateway.aKey({ limits: LIMITS })

    const reply = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })
    await reply.text()

    expect(limitsIn(reply)).toMatchObject({ 'x-ratelimit-remaining-requests': '59' })
  })

  const refusals: readonly [string, object, number, string, string][] = [
    ['too many requests', { limits: { requests_per_minute: 1 } }, 429, 'requests', '0'],
    ['too many tokens', { limits: { tokens_per_minute: 1 } }, 429, 'tokens', '1'],
    [
      'an exceeded budget',
      { limits: { requests_per_minute: 9 }, budgets: { day: '0' } },
      402,
      'requests',
      '9',
    ],
  ]
  test.each(refusals)(
    'the limits of a key are in a refusal for %s',
    async (_, limits, status, kind, remaining) => {
      const holder = await gateway.aKey(limits)
      const ask = async (asked: () => Asked) => {
        await (await gateway.send(holder, asked())).text()
        return gateway.send(holder, asked())
      }

      const onChat = await ask(() => chat({ model: 'gpt-x' }))
      gateway.clock.advance(60_000)
      const onMessages = await ask(() => messages({}))

      expect([onChat.status, onMessages.status]).toEqual([status, status])
      expect(limitsIn(onChat)).toMatchObject({ [`x-ratelimit-remaining-${kind}`]: remaining })
      expect(limitsIn(onMessages)).toMatchObject({ [`anthropic-ratelimit-${kind}-remaining`]: remaining })
    },
  )

  test('the limits of a key are in a refusal from memory', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 1 } })
    const ask = () => gateway.send(holder, chat({ model: 'gpt-x' }))

    for (let sent = 0; sent < 2; sent += 1) await (await ask()).text()
    gateway.clock.advance(30_000)
    const refused = await ask()

    expect(refused.status).toBe(429)
    expect(limitsIn(refused)).toEqual({
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '30s',
    })
  })

  test('the limits of a key are in the error for a model that failed', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 60 } })
    gateway.upstream.reply(json({}, { status: 500 }))

    const failed = await gateway.send(holder, chat({ model: 'dollar' }))
    gateway.gate()()

    expect(await refusalOf(failed)).toMatchObject({ status: 502 })
    expect(limitsIn(failed)).toMatchObject({ 'x-ratelimit-remaining-requests': '59' })
  })

  test('the limits of a key are not in a replay, which takes nothing of them', async () => {
    const holder = await gateway.aKey({ limits: LIMITS })
    const request = chat({ model: 'dollar' })
    const bytes = await gateway.metric('tollgate_replay_bytes')
    await (await gateway.send(holder, request)).text()
    await until('the answer is kept', async () => (await gateway.metric('tollgate_replay_bytes')) > bytes)

    const replay = await gateway.send(holder, request)

    expect(replay.headers.get('x-service-replay')).toBe('true')
    expect(limitsIn(replay)).toEqual({})
  })
})

describe('the limits of an upstream', () => {
  const upstreams = { 'x-ratelimit-limit-requests': '7' }

  test('the limits of an upstream are replaced by those of a key that has some, and others get them', async () => {
    const [limited, other] = [
      await gateway.aKey({ limits: { requests_per_minute: 60 } }),
      await gateway.aKey({ budgets: { day: '100' } }),
    ]
    gateway.upstream.reply(chatAnswer({ headers: upstreams }))

    const own = await gateway.send(limited, chat({ model: 'dollar' }))
    const theirs = await gateway.send(other, chat({ model: 'dollar' }))

    expect(limitsIn(own)).toMatchObject({ 'x-ratelimit-limit-requests': '60' })
    expect(limitsIn(theirs)).toEqual(upstreams)
  })

  test.each([
    ['an answer', chat({ model: 'dollar' }), chatAnswer({ headers: upstreams })],
    [
      'a refusal',
      chat({ model: 'dollar' }),
      json({ error: { message: 'No.' } }, { status: 400, headers: upstreams }),
    ],
  ])('the limits of an upstream whose row says so are not in %s', async (_, asked, reply) => {
    const hiding = await startLimitedGateway({ provider: { pass_rate_limits: false } })
    const holder = await hiding.aKey()
    hiding.upstream.reply(reply)

    const answer = await hiding.send(holder, asked)

    expect([200, 400]).toContain(answer.status)
    expect(limitsIn(answer)).toEqual({})
    await hiding.stop()
  })
})
