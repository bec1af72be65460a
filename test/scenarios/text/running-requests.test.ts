import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { turn } from '../../support/turn.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { startUpstream } from '../../support/upstream.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'

const HELLO = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }

let gateway: ScriptedGateway
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedGateway()
  ada = await gateway.account({ grant: '1' })
})
afterEach(() => gateway.stop())

/** The cost of a request during which the operator makes this edit. */
async function costAcross(edit: () => Promise<unknown>): Promise<string | null> {
  const taken = gateway.upstream.hold()
  const running = gateway.chat(ada.key, HELLO)
  const exchange = await taken
  await edit()
  await chatAnswer()(exchange)
  return (await running).headers.get('x-service-cost-usd')
}

describe('a running request is not affected, and keeps its price, when', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      'the price is raised',
      () =>
        gateway.admin(
          'PUT',
          'models/gpt-x',
          chatModel('gpt-x', { pricing: { input_per_mtok: '200', output_per_mtok: '1000' } }),
        ),
    ],
    [
      'the model becomes free',
      () => gateway.admin('PUT', 'models/gpt-x', chatModel('gpt-x', { pricing: 'free' })),
    ],
    ['the model is switched off', () => gateway.admin('PATCH', 'models/gpt-x', { enabled: false })],
    ['the model is deleted', () => gateway.admin('DELETE', 'models/gpt-x')],
    ['the whole catalog is emptied', () => gateway.admin('PUT', 'catalog', { providers: [], models: [] })],
  ])('a running request is not affected, and keeps its price, when %s', async (_, edit) => {
    expect(await costAcross(edit)).toBe('0.00007')
    expect(await ada.balance()).toMatchObject({ available_usd: '0.99993', held_usd: '0' })
    await expectNothingHeld(gateway, ada)
  })

  test('a running request is not affected, and keeps its price, when its key is revoked', async () => {
    const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', `accounts/${ada.id}/keys`)

    const cost = await costAcross(() => gateway.admin('POST', `keys/${data[0]!.id}/revoke`))

    expect(cost).toBe('0.00007')
    expect((await gateway.chat(ada.key, HELLO)).status).toBe(401)
  })
})

describe('the next request uses the edit:', () => {
  test('the next request uses the edit: another upstream with another model name', async () => {
    const other = startUpstream()
    await gateway.chat(ada.key, HELLO)

    await gateway.admin('PUT', 'providers/other', { kind: 'openai-compatible', base_url: other.baseUrl })
    await gateway.admin(
      'PUT',
      'models/gpt-x',
      chatModel('gpt-x', { upstreams: [{ provider: 'other', model: 'renamed' }] }),
    )
    await gateway.chat(ada.key, HELLO)
    other.close()

    expect(gateway.upstream.requests).toHaveLength(1)
    expect(other.requests.map(request => (request.json() as { model: string }).model)).toEqual(['renamed'])
    // The key of one provider is never sent to another.
    expect(other.requests[0]!.headers['authorization']).toBeUndefined()
  })

  test('the next request uses the edit: another key of the provider', async () => {
    const row = { kind: 'openai-compatible', base_url: gateway.upstream.baseUrl, api_key: 'sk-second-key' }
    await gateway.admin('PUT', 'providers/main', row)
    await gateway.chat(ada.key, HELLO)

    expect(gateway.upstream.requests[0]!.headers['authorization']).toBe('Bearer sk-second-key')
  })

  test('the next request uses the edit: a higher max_output_tokens, so that a low balance is refused', async () => {
    const thin = await gateway.account({ grant: '0.02' })
    await gateway.admin('PUT', 'models/gpt-x', chatModel('gpt-x', { max_output_tokens: 100_000 }))

    expect((await gateway.chat(thin.key, HELLO)).status).toBe(402)
  })
})

test('a stop waits for a running request until the drain timeout, and then ends without its answer', async () => {
  const held = await startScriptedGateway()
  const { key } = await held.account()
  const taken = held.upstream.hold()
  let outcome = 'runs'
  const running = held.chat(key, HELLO).then(
    () => (outcome = 'answered'),
    () => (outcome = 'cut'),
  )
  await taken

  const stopped = held.stopUnverified()
  held.clock.advance(29_999)
  await turn()
  const before = outcome
  held.clock.advance(1)
  await running
  held.clock.advance(7000)
  await stopped

  expect([before, outcome]).toEqual(['runs', 'cut'])
})
