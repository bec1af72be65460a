import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Ask } from '../../../src/cli/ask.ts'
import { showRequestsReport } from '../../../src/cli/commands/reports/requests-report.ts'
import { ADMIN_KEY } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

type Row = Readonly<Record<string, string | number | null | object>>
type Report = { readonly data: readonly Row[]; readonly has_more: boolean; readonly totals: Row }

let gateway: ScriptedGateway
let accountId: string

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [chatModel('gpt-x'), chatModel('gpt-y')],
    environment: { TOLLGATE_REQUEST_RECORDS_DAYS: '7' },
  })
  gateway.upstream.reply(
    chatAnswer({
      usage: {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 110,
        prompt_tokens_details: { cached_tokens: 40 },
      },
    }),
  )
  const [ada, poor] = [await gateway.account({ grant: '10' }), await gateway.account({ grant: '0.000001' })]
  const ask = (key: string, model: string, content: string) =>
    gateway.chat(key, { model, messages: [{ role: 'user', content }] })
  await ask(ada.key, 'gpt-x', 'one')
  await ask(ada.key, 'gpt-x', 'two')
  await ask(ada.key, 'gpt-y', 'three')
  await ask(poor.key, 'gpt-y', 'four')
  accountId = ada.id
})
afterAll(() => gateway.stop())

const askAdmin: Ask = ({ method, path }) => gateway.admin(method, path) as never
const report = (query: string) => gateway.admin<Report>('GET', `requests/report${query}`)

test('the report of requests has counts, errors, times and tokens of each model, the busiest first', async () => {
  const { data, has_more, totals } = await report('?by=model')

  expect(data).toMatchObject([
    { model: 'gpt-x', requests: 2, errors: 0, tokens: { input: 120, cached_input: 80, output: 20 } },
    { model: 'gpt-y', requests: 2, errors: 1 },
  ])
  expect(data[0]!['duration_p50_ms']).toBeNumber()
  expect(has_more).toBe(false)
  expect(totals).toMatchObject({ requests: 4, errors: 1 })
})

test.each([
  ['status', { status: 200, requests: 3, errors: 0 }],
  ['provider', { provider: 'main', requests: 3, errors: 0 }],
  ['account', { requests: 3, errors: 0, duration_p50_ms: null }],
])('the report of requests can be by %s', async (by, first) => {
  expect((await report(`?by=${by}`)).data[0]).toMatchObject(first)
})

test('the report by account has their names, and groups beyond the limit are only in the totals', async () => {
  const { data, has_more, totals } = await report('?by=account&limit=1')

  expect(data).toMatchObject([{ account: accountId, requests: 3 }])
  expect(data[0]!['account_name']).toBeString()
  expect([has_more, totals['requests']]).toEqual([true, 4])
})

test.each([
  ['?by=week', 'by'],
  ['?from=2026-11-01T10:00:00Z', 'from'],
  ['?by=hour&from=2026-11-01T10:30:00Z', 'from'],
  ['?cursor=1', 'cursor'],
])('the report of requests refuses %s', async (query, param) => {
  const refused = await fetch(`${gateway.url}/admin/api/requests/report${query}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  })

  expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('the command shows the report as a table and as CSV', async () => {
  const shown = await showRequestsReport(askAdmin, { by: 'status' })
  const csv = await showRequestsReport(askAdmin, { by: 'status', csv: true })

  expect(shown.text).toContain('Requests: 4. Errors: 1.')
  expect(csv.text).toMatch(/^status,requests,errors,.*,tokens\r?\n200,3,0,/)
})
