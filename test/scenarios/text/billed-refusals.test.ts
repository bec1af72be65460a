import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { json } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { HI } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    provider: { bills_refused: 'content_filter' },
    providers: baseUrl => [{ id: 'free', kind: 'openai-compatible', base_url: baseUrl }],
    models: [
      chatModel('filtered'),
      chatModel('filtered-free', { upstreams: [{ provider: 'free', model: 'x' }] }),
    ],
  })
})
afterAll(() => gateway.stop())

/** The refusal of Azure's content filter. */
const FILTERED = {
  error: {
    message: 'The response was filtered due to the prompt triggering the content management policy.',
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
  },
}
const OTHER = {
  error: { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' },
}

async function refused(route: string, body: object, reply: object) {
  const account = await gateway.account({ grant: '10' })
  gateway.upstream.reply(json(reply, { status: 400 }))
  const response = await fetch(`${gateway.url}/v1/${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ messages: HI, max_tokens: 10, ...body }),
  })
  await response.text()
  return { account, response }
}

/** The attempts of an account that the books have. */
function attemptsOf(accountId: string): readonly object[] {
  const database = new Database(join(gateway.dataDir, 'tollgate.db'), { readonly: true })
  const attempts = database
    .query<object, [string]>(
      `SELECT provider, model, state, input, output, provider_cost, cost FROM attempts
        JOIN accounts ON accounts.id = account_id WHERE public_id = ?`,
    )
    .all(accountId)
  database.close()
  return attempts
}

test.each([
  ['a request', 'chat/completions', {}],
  ['a request for a stream', 'chat/completions', { stream: true }],
  ['a message', 'messages', {}],
])(
  '%s that the provider’s filter refuses is free, and the operator’s books have its estimate',
  async (_, route, body) => {
    const series = 'tollgate_billed_refusals_total{provider="main"}'
    const before = await gateway.metric(series)

    const { account, response } = await refused(route, { model: 'filtered', ...body }, FILTERED)

    await until('the attempt is recorded', () => attemptsOf(account.id).length > 0)
    expect(response.status).toBe(400)
    expect(await account.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
    expect(attemptsOf(account.id)).toEqual([
      {
        provider: 'main',
        model: 'filtered',
        state: 'abandoned',
        input: 5,
        output: 0,
        provider_cost: null,
        cost: null,
      },
    ])
    expect((await gateway.metric(series)) - before).toBe(1)
    await expectNothingHeld(gateway, account)
  },
)

test.each([
  ['for another reason', 'filtered', OTHER],
  ['at a provider that bills no refusals', 'filtered-free', FILTERED],
])('a request that is refused %s is not in the books', async (_, model, reply) => {
  const series = (provider: string) =>
    gateway.metric(`tollgate_billed_refusals_total{provider="${provider}"}`)
  const before = [await series('main'), await series('free')]

  const { account, response } = await refused('chat/completions', { model }, reply)

  expect(response.status).toBe(400)
  expect([await series('main'), await series('free')]).toEqual(before)
  expect(attemptsOf(account.id)).toEqual([])
})
