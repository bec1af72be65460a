import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

let gateway: ScriptedGateway
let key: string

beforeAll(async () => {
  gateway = await startScriptedGateway({
    environment: { TOLLGATE_SANDBOX: 'off' },
    providers: () => [{ id: 'box', kind: 'sandbox' }],
    models: [
      chatModel('gpt-x'),
      chatModel('play', { upstreams: [{ provider: 'box', model: 'sandbox-chat' }] }),
      chatModel('both', {
        upstreams: [
          { provider: 'box', model: 'sandbox-chat' },
          { provider: 'main', model: 'real' },
        ],
      }),
    ],
  })
  key = (await gateway.account()).key
})
afterAll(() => gateway.stop())

const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
const HELLO = { messages: [{ role: 'user', content: 'Hello' }] }

test('while the sandbox is off, a model with only the sandbox is not listed and cannot be called', async () => {
  const listed = await gateway.read<{ data: { id: string }[] }>(key, '/v1/models')
  const priced = await gateway.read<{ data: { id: string }[] }>(key, '/cabinet/api/public/models')
  const one = await fetch(`${gateway.url}/v1/models/play`, { headers: { 'x-api-key': key } })
  const asked = await gateway.chat(key, { model: 'play', ...HELLO })
  const counted = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ model: 'play', ...HELLO }),
  })

  expect(ids(listed)).toEqual(['gpt-x', 'both'])
  expect(ids(priced)).toEqual(['gpt-x', 'both'])
  expect([one.status, asked.status, counted.status]).toEqual([404, 404, 404])
})

test('a model with another upstream is called there', async () => {
  const response = await gateway.chat(key, { model: 'both', ...HELLO })

  expect(response.status).toBe(200)
  expect(gateway.upstream.requests.at(-1)!.json()).toMatchObject({ model: 'real' })
})

test('doctor counts the model as off, and reports that the sandbox is off', async () => {
  const { checks } = await gateway.admin<{ checks: object[] }>('GET', 'doctor')

  expect(checks).toContainEqual({
    name: 'catalog',
    ok: true,
    detail: '2 of 3 models are on (revision 1).',
  })
  expect(checks).toContainEqual({
    name: 'provider box',
    ok: true,
    detail: 'Is switched off by TOLLGATE_SANDBOX: its models are neither listed nor served.',
  })
})

test('the operator still sees the model', async () => {
  const rows = await gateway.admin<{ data: { id: string }[] }>('GET', 'models')

  expect(ids(rows)).toEqual(['gpt-x', 'play', 'both'])
})
