import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Ask } from '../../../src/cli/ask.ts'
import { showMargins } from '../../../src/cli/commands/reports/margins.ts'
import { projectUsage } from '../../../src/cli/commands/accounts/projects.ts'
import { listUsage } from '../../../src/cli/commands/reports/usage.ts'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { rejection } from '../../support/rejection.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

type Row = Readonly<Record<string, string | number | null>>
type Report = { readonly data: readonly Row[]; readonly next: string | null; readonly totals: Row }

let gateway: ScriptedGateway

beforeAll(async () => {
  const at = (cost: object) => [{ provider: 'main', model: 'x', cost }]
  gateway = await startScriptedGateway({
    models: [
      // Sold for 2 and 10 USD per million tokens.
      chatModel('good', { upstreams: at({ input_per_mtok: '1', output_per_mtok: '5' }) }),
      chatModel('bad', { upstreams: at({ input_per_mtok: '4', output_per_mtok: '20' }) }),
      chatModel('gift', {
        pricing: 'free',
        upstreams: at({ input_per_mtok: '1', output_per_mtok: '5' }),
      }),
      chatModel('unknown'),
      chatModel('filtered', {
        upstreams: [{ provider: 'filter', model: 'x', cost: { ...FREE, per_request: '0.25' } }],
      }),
    ],
    providers: base_url => [
      { id: 'filter', kind: 'openai-compatible', base_url, bills_refused: 'content_filter' },
    ],
  })
})
beforeEach(() => gateway.upstream.reply(ANSWER))
afterAll(() => gateway.stop())

const askAdmin: Ask = ({ method, path }) => gateway.admin(method, path) as never
const ANSWER = chatAnswer({
  usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
})
const FREE = { input_per_mtok: '0', output_per_mtok: '0' }
const margins = (query = '') => gateway.admin<Report>('GET', `margins${query}`)

async function ask(model: string, account: { readonly key: string }): Promise<void> {
  await gateway.chat(account.key, { model, messages: [{ role: 'user', content: 'Hello' }] })
}

test('margins show revenue, costs and the charges without a cost, by model and by account, in pages and as CSV', async () => {
  const [ada, ben] = [await gateway.account({ grant: '10' }), await gateway.account({ grant: '10' })]
  await ask('good', ada)
  await ask('good', ben)
  await ask('bad', ben)
  await ask('unknown', ben)
  await ask('gift', ben)
  const { data: charges } = await gateway.admin<{ data: readonly { id: string; model: string }[] }>(
    'GET',
    `usage?account=${ada.id}`,
  )
  await gateway.admin('POST', `charges/${charges[0]!.id}/refund`)

  const byModel = await margins()
  const byAccount = await margins('?by=account')
  const shown = await showMargins(askAdmin, { by: 'model' })
  const csv = await showMargins(askAdmin, { by: 'model', csv: true })
  const first = await margins('?limit=3')
  const second = await margins(`?limit=3&cursor=${first.next}`)

  const none = { losses_usd: '0', losses_without_cost: 0, charges_without_cost: 0 }
  const of = (charges: number, revenue: string, cost: string, margin: string) =>
    ({ ...none, charges, revenue_usd: revenue, provider_cost_usd: cost, margin_usd: margin }) as const
  expect(byModel.data).toEqual([
    { model: 'bad', ...of(1, '0.003', '0.006', '-0.003') },
    { model: 'gift', ...of(1, '0', '0.0015', '-0.0015') },
    { model: 'good', ...of(2, '0.003', '0.003', '0') },
    { model: 'unknown', ...of(1, '0.003', '0', '0.003'), charges_without_cost: 1 },
  ])
  expect(byModel.totals).toEqual({ ...of(5, '0.009', '0.0105', '-0.0015'), charges_without_cost: 1 })
  expect(byAccount.data).toEqual(
    [
      { account: ada.id, account_name: 'account 1', ...of(1, '0', '0.0015', '-0.0015') },
      {
        account: ben.id,
        account_name: 'account 2',
        ...of(4, '0.009', '0.009', '0'),
        charges_without_cost: 1,
      },
    ].toSorted((left, right) => (left.account < right.account ? -1 : 1)),
  )
  expect(shown.text.split('\n').map(line => line.split(/ {2,}/))).toEqual([
    ['MODEL', 'CHARGES', 'REVENUE USD', 'COST USD', 'LOSSES USD', 'MARGIN USD', 'NO COST'],
    ['bad', '1', '0.003', '0.006', '0', '-0.003', '0'],
    ['gift', '1', '0', '0.0015', '0', '-0.0015', '0'],
    ['good', '2', '0.003', '0.003', '0', '0', '0'],
    ['unknown', '1', '0.003', '0', '0', '0.003', '1'],
    [''],
    ['Revenue: 0.009 USD. Cost: 0.0105 USD. Losses: 0 USD. Margin: -0.0015 USD.'],
    [expect.stringContaining('The cost of 1 of 5 charges is not known, so the margin is lower.')],
  ])
  expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
    'model,charges,revenue_usd,provider_cost_usd,losses_usd,margin_usd,charges_without_cost,losses_without_cost',
    'bad,1,0.003,0.006,0,-0.003,0,0',
  ])
  expect([...first.data, ...second.data]).toEqual([...byModel.data])
  expect([first.totals, second.totals, second.next]).toEqual([byModel.totals, byModel.totals, null])
})

test('the totals of usage have the costs of an account and a margin, like its margins, and the customer does not see them', async () => {
  const account = await gateway.account({ grant: '10' })
  const project = await gateway.admin<{ id: string }>('POST', `accounts/${account.id}/projects`, {
    name: 'web',
  })
  const key = await gateway.admin<{ key: string }>('POST', `accounts/${account.id}/keys`, {
    name: 'web',
    project: 'web',
  })
  for (const model of ['good', 'bad', 'unknown']) await ask(model, key)
  await ask('good', account)
  const { data: charges } = await gateway.admin<{ data: readonly { id: string }[] }>(
    'GET',
    `usage?account=${account.id}`,
  )
  await gateway.admin('POST', `charges/${charges[0]!.id}/refund`)
  const [yesterday, tomorrow] = [-1, 1].map(days =>
    new Date(gateway.clock.now() + days * 86_400_000).toISOString(),
  )
  const range = `from=${yesterday}&to=${tomorrow}`

  const sums = await gateway.admin<Report>('GET', `usage?account=${account.id}&${range}`)
  const groups = await gateway.admin<Report>('GET', `usage?account=${account.id}&${range}&group_by=user`)
  const ofProject = await gateway.admin<Report>('GET', `projects/${project.id}/usage`)
  const own = await gateway.read<Report>(account.key, `/v1/usage?${range}`)
  const ownGroups = await gateway.read<Report>(account.key, `/v1/usage?${range}&group_by=user`)
  const shown = await listUsage(askAdmin, {
    account: account.id,
    from: yesterday!,
    to: tomorrow!,
    limit: '9',
  })
  const shownProject = await projectUsage(askAdmin, { id: project.id, by: 'model' })

  const { revenue_usd: revenue, ...expected } = (await margins('?by=account')).data.find(
    row => row['account'] === account.id,
  )!
  const common = {
    charges: expected['charges']!,
    provider_cost_usd: expected['provider_cost_usd']!,
    margin_usd: expected['margin_usd']!,
    charges_without_cost: expected['charges_without_cost']!,
  }
  expect(common).toMatchObject({ charges: 4, provider_cost_usd: '0.009', margin_usd: '0' })
  expect(sums.totals).toMatchObject({ ...common, cost_usd: revenue!, compensated_usd: '0' })
  expect(groups.totals).toEqual(sums.totals)
  expect(groups.data).toMatchObject([{ value: null, ...common }])
  expect(ofProject.totals).toMatchObject({
    charges: 3,
    provider_cost_usd: '0.0075',
    margin_usd: '0.0015',
    charges_without_cost: 1,
  })
  expect(shown.text).toEndWith(
    [
      'Charges: 4. Cost: 0.009 USD, net of refunds of 0.003 USD.',
      'Provider cost: 0.009 USD. Margin: 0 USD.',
      'The cost of 1 of 4 charges is not known, so the margin is lower. Write the cost of the upstream in the row of the model.',
    ].join('\n'),
  )
  expect(shownProject.text.split('\n')[0]!.split(/ {2,}/).slice(-5)).toEqual([
    'COST USD',
    'COMPENSATED USD',
    'PROVIDER USD',
    'MARGIN USD',
    'NO COST',
  ])
  expect(JSON.stringify([own, ownGroups])).not.toMatch(/provider_cost|margin|compensated|without_cost/)
})

test('margins by account, key and project have names, and those of one account have no other', async () => {
  const [ada, ben] = [await gateway.account({ grant: '10' }), await gateway.account({ grant: '10' })]
  await gateway.admin('PATCH', `accounts/${ada.id}`, { name: '=ada' })
  const project = await gateway.admin<{ id: string }>('POST', `accounts/${ada.id}/projects`, { name: 'web' })
  const created = { name: 'site', project: 'web' }
  const key = await gateway.admin<{ id: string; key: string }>('POST', `accounts/${ada.id}/keys`, created)
  await ask('good', key)
  await ask('good', ben)
  await ask('bad', ben)

  const of = async (by: string) => (await margins(`?by=${by}&account=${ada.id}`)).data
  const shown = await showMargins(askAdmin, { by: 'key', account: '=ada' })
  const csv = await showMargins(askAdmin, { by: 'account', account: '=ada', csv: true })
  const ofBen = await margins(`?account=${ben.id}`)
  const missing = await rejection(margins('?account=nobody'))

  expect(await of('account')).toMatchObject([{ account: ada.id, account_name: '=ada', charges: 1 }])
  expect(await of('key')).toMatchObject([{ key: key.id, key_name: 'site', charges: 1 }])
  expect(await of('project')).toMatchObject([{ project: project.id, project_name: 'web', charges: 1 }])
  expect(shown.text.split('\n', 2).map(line => line.split(/ {2,}/).slice(0, 3))).toEqual([
    ['KEY', 'NAME', 'CHARGES'],
    [key.id, 'site', '1'],
  ])
  // A spreadsheet would run a name that begins like a formula.
  expect(csv.text.split('\r\n').map(line => line.split(',').slice(0, 3))).toEqual([
    ['account', 'account_name', 'charges'],
    [ada.id, "'=ada", '1'],
  ])
  expect(ofBen.data.map(({ model, charges }) => [model, charges])).toEqual([
    ['bad', 1],
    ['good', 1],
  ])
  expect(String(missing)).toContain('not_found')
})

test('work that the provider bills and no customer paid for is a loss, in the report and in the metrics', async () => {
  const account = await gateway.account({ grant: '10' })
  const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter' }
  const lost = () => gateway.metric('tollgate_unsold_cost_usd_total{model="filtered",provider="filter"}')
  gateway.upstream.reply(json({ error }, { status: 400 }))

  await ask('filtered', account)

  // It is recorded in the background.
  await until('the loss was not counted', async () => (await lost()) > 0)
  const { data } = await margins('?by=provider')
  expect(await lost()).toBe(0.25)
  expect(data.find(({ provider }) => provider === 'filter')).toMatchObject({
    charges: 0,
    revenue_usd: '0',
    provider_cost_usd: '0',
    losses_usd: '0.25',
    margin_usd: '-0.25',
  })
})

test('a refund and a loss of another account are not in the margins of an account', async () => {
  const [ada, ben] = [await gateway.account({ grant: '10' }), await gateway.account({ grant: '10' })]
  await ask('good', ada)
  await ask('good', ben)
  const { data } = await gateway.admin<{ data: readonly { id: string }[] }>('GET', `usage?account=${ben.id}`)
  await gateway.admin('POST', `charges/${data[0]!.id}/refund`)
  const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter' }
  gateway.upstream.reply(json({ error }, { status: 400 }))
  await ask('filtered', ben)
  await until('the loss was not booked', async () =>
    (await margins(`?by=provider&account=${ben.id}`)).data.some(row => row['losses_usd'] === '0.25'),
  )

  const { totals } = await margins(`?account=${ada.id}`)

  expect(totals).toMatchObject({ charges: 1, revenue_usd: '0.003', losses_usd: '0', margin_usd: '0.0015' })
})

test('the metrics of Prometheus have revenue and costs by model and provider', async () => {
  const account = await gateway.account({ grant: '10' })
  const sumsOf = (model: string) =>
    Promise.all(
      ['revenue_usd', 'provider_cost_usd', 'unsold_cost_usd', 'charges_without_cost'].map(name =>
        gateway.metric(`tollgate_${name}_total{model="${model}",provider="main"}`),
      ),
    )
  const before = [await sumsOf('good'), await sumsOf('unknown')]

  await ask('good', account)
  await ask('unknown', account)

  const after = [await sumsOf('good'), await sumsOf('unknown')]
  const grown = after.map((sums, row) => sums.map((sum, at) => Math.round((sum - before[row]![at]!) * 1e9)))
  expect(grown).toEqual([
    [3_000_000, 1_500_000, 0, 0],
    [3_000_000, 0, 0, 1e9],
  ])
})

test('doctor warns about models that were sold below cost since yesterday, and not about free ones', async () => {
  const marginCheck = async () => {
    const { checks } = await gateway.admin<{ checks: readonly { name: string; detail: string }[] }>(
      'GET',
      'doctor',
    )
    return checks.find(({ name }) => name === 'margins')
  }
  const account = await gateway.account({ grant: '10' })
  await ask('bad', account)

  const warning = await marginCheck()
  gateway.clock.jump(2 * 86_400_000)
  const later = await marginCheck()

  expect(warning).toMatchObject({ ok: true, is_warning: true })
  expect(warning?.detail).toMatch(/since yesterday: bad at main \(sold for 0\.\d+ USD, cost 0\.\d+ USD\)\./)
  expect(later).toBeUndefined()
})

test.each([
  ['by=colour', 'by'],
  ['from=2026-11-01T12:00:00Z', 'from'],
  ['to=2026-11-01T00:00:00Z', 'from'],
  ['model=gpt-x', 'model'],
])('margins with the parameter %s are refused', async (query, param) => {
  const response = await fetch(`${gateway.url}/admin/api/margins?${query}`, {
    headers: { authorization: 'Bearer tg_admin_for_tests' },
  })

  expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('margins by revenue begin with the highest, in pages of the same order', async () => {
  const [ada, ben] = [await gateway.account({ grant: '10' }), await gateway.account({ grant: '10' })]
  await ask('good', ada)
  for (let times = 0; times < 20; times += 1) await ask('good', ben)

  const all = await margins('?by=account&sort=revenue')
  const first = await margins('?by=account&sort=revenue&limit=1')
  const second = await margins(`?by=account&sort=revenue&limit=1&cursor=${first.next}`)
  const refused = await rejection(margins('?by=account&sort=revenue&cursor=acct_1'))

  const revenues = all.data.map(row => Number(row['revenue_usd']))
  expect(all.data[0]!['account']).toBe(ben.id)
  expect(revenues).toEqual(revenues.toSorted((left, right) => right - left))
  expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 2))
  expect(String(refused)).toContain('400')
})
