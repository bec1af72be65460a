import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rejection } from '../../support/rejection.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ models: [chatModel('gpt-x'), chatModel('other')] })
})
afterAll(() => gateway.stop())

const row = (input: string) => ({
  ...chatModel('gpt-x'),
  upstreams: [{ provider: 'main', model: 'x', cost: { input_per_mtok: '1', output_per_mtok: '4' } }],
  pricing: { input_per_mtok: input, output_per_mtok: '10' },
})

test('a dry run of a model shows the fields that change, the price of one request and the margin', async () => {
  const before = await gateway.admin('GET', 'models/gpt-x')

  const preview = await gateway.admin('PUT', 'models/gpt-x?dry_run=true', row('3'))

  expect(preview).toMatchObject({
    dry_run: true,
    is_new: false,
    fields: expect.arrayContaining([{ field: 'pricing.input_per_mtok', before: '2', after: '3' }]),
    example: {
      of: '1,000 input tokens and 500 output tokens',
      before_usd: '0.007',
      after_usd: '0.008',
      costs: [{ provider: 'main', cost_usd: '0.003', margin_usd: '0.005' }],
    },
  })
  expect(await gateway.admin<object>('GET', 'models/gpt-x')).toEqual(before as object)
})

test('a dry run of a new model has no price before', async () => {
  const preview = await gateway.admin('PUT', 'models/new?dry_run=true', { ...row('3'), id: 'new' })

  expect(preview).toMatchObject({
    is_new: true,
    fields: [],
    example: { before_usd: null, after_usd: '0.008' },
  })
})

test('a dry run of a model of an unknown provider is refused as the change would be', async () => {
  const unknown = { ...row('3'), upstreams: [{ provider: 'none', model: 'x' }] }

  const refused = await rejection(gateway.admin('PUT', 'models/gpt-x?dry_run=true', unknown))

  expect(String(refused)).toContain('none')
})
