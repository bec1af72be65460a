import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ADMIN_KEY } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from './refusal-of.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeEach(async () => {
  gateway = await startScriptedGateway({
    models: [chatModel('dollar', { pricing: DOLLAR_A_REQUEST })],
    environment: { TOLLGATE_HOLD_WAIT_S: '0' },
  })
  gateway.upstream.reply(chatAnswer())
})
afterEach(() => gateway.stop())

describe('the usage of an account by project', () => {
  test('each line names the project of its key, and a filter selects a project with its totals', async () => {
    const { account, project } = await aProject()
    const inProject = await aKey(account, { project: 'web' })
    const other = await aKey(account, {})
    for (const key of [inProject, other, inProject]) await (await ask(key)).text()
    const range = 'from=2027-01-15T00:00:00Z&to=2027-01-16T00:00:00Z'
    const own = `/v1/usage?${range}`
    const ofAdmin = `usage?account=${account}&${range}`
    const only = `project=${project.id}`

    const all = await gateway.read<Usage>(inProject.key, own)
    const some = await gateway.read<Usage>(other.key, `${own}&${only}`)
    const listed = await gateway.admin<Usage>('GET', ofAdmin)
    const selected = await gateway.admin<Usage>('GET', `${ofAdmin}&${only}`)

    const id = project.id
    expect(all.data.map(line => line.project)).toEqual([id, null, id])
    expect(listed.data.map(line => line.project)).toEqual([id, null, id])
    expect(some.data.map(line => line.project)).toEqual([id, id])
    expect(selected.data.map(line => line.project)).toEqual([id, id])
    expect(some.totals).toMatchObject({ charges: 2, cost_usd: '2' })
    expect(selected.totals).toMatchObject(some.totals)
  })

  test.each([
    ['an unknown project', 'from=2027-01-15T00:00:00Z&project=proj_x', 'project'],
    ['no time range', 'project={project}', 'from'],
  ])('a filter with %s is refused', async (_, asked, param) => {
    const { account, project } = await aProject()
    const { key } = await aKey(account, {})
    const query = asked.replace('{project}', project.id)

    const refused = await fetch(`${gateway.url}/v1/usage?${query}`, { headers: { 'x-api-key': key } })

    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_field', param } })
  })

  test('a customer cannot select a project of another account', async () => {
    const { project } = await aProject()
    const { key } = await gateway.account({ grant: '1' })
    const path = `/v1/usage?from=2027-01-15T00:00:00Z&project=${project.id}`

    const refused = await fetch(`${gateway.url}${path}`, { headers: { 'x-api-key': key } })

    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_field', param: 'project' } })
  })

  test('a filter of the operator needs an account', async () => {
    const path = 'usage?from=2027-01-15T00:00:00Z&project=proj_x'

    const refused = await fetch(`${gateway.url}/admin/api/${path}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    })

    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_field', param: 'account' } })
  })
})

type Usage = {
  readonly data: readonly { readonly project: string | null }[]
  readonly totals: object
}
type Project = { readonly id: string; readonly name: string; readonly closed_at: string | null }
type Key = { readonly id: string; readonly key: string; readonly project: string | null }

/** An account with 100 USD and the project "web". */
async function aProject(terms: object = {}) {
  const { id: account } = await gateway.account({ grant: '100' })
  const project = await gateway.admin<Project>('POST', `accounts/${account}/projects`, {
    name: 'web',
    ...terms,
  })
  return { account, project }
}

function aKey(account: string, fields: object): Promise<Key> {
  return gateway.admin<Key>('POST', `accounts/${account}/keys`, fields)
}

let asked = 0

/** Each body is different, so that none is a replay. */
function ask({ key }: Pick<Key, 'key'>): Promise<Response> {
  const messages = [{ role: 'user', content: `request ${(asked += 1)}` }]
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ model: 'dollar', max_tokens: 5, messages }),
  })
}

/** A request of the operator that may be refused. */
function asOperator(method: string, path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify(body),
  })
}

describe('a project', () => {
  test('a project limits its keys together, and its keys see its budget', async () => {
    const { account, project } = await aProject({ budgets: { day: '2' } })
    const [first, second] = [
      await aKey(account, { project: 'web' }),
      await aKey(account, { project: project.id }),
    ]
    const outside = await aKey(account, {})

    const replies = [await ask(first), await ask(second), await ask(first), await ask(outside)]
    const own = await gateway.read<object>(second.key, '/v1/key')

    expect([first.project, second.project, outside.project]).toEqual([project.id, project.id, null])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 402, 200])
    expect(await refusalOf(replies[2]!)).toMatchObject({
      code: 'budget_exceeded',
      message: expect.stringContaining('The project of this API key has a budget of 2 USD a day'),
    })
    const budget = { budgets: { day: '2' }, budget_usage: { day: { spent_usd: '2', remaining_usd: '0' } } }
    expect(own).toMatchObject({
      project: { id: project.id, name: 'web', ...budget },
      account: { budgets: { day: null } },
    })
    expect(await gateway.admin('GET', `projects/${project.id}`)).toMatchObject({
      id: project.id,
      account,
      ...budget,
    })
    expect(await gateway.read<object>(outside.key, '/v1/key')).toMatchObject({ project: null })
  })

  test('a project is renamed and gets limits in one change, which the audit log has', async () => {
    const { account, project } = await aProject()
    const change = { name: 'site', limits: { requests_per_minute: 1 } }

    const changed = await gateway.admin<Project>('PATCH', `projects/${project.id}`, change)
    await gateway.admin('PATCH', `projects/${project.id}`, change)
    const { data } = await gateway.admin<{ data: object[] }>('GET', `accounts/${account}/projects`)
    const audit = await gateway.admin<{ data: { subject: string }[] }>('GET', 'audit')

    expect(changed).toMatchObject({ name: 'site', limits: { requests_per_minute: 1 } })
    expect(data).toEqual([
      { ...project, name: 'site', limits: undefined, budgets: undefined, budget_usage: undefined },
    ])
    // Background work may write lines of its own.
    expect(audit.data.filter(({ subject }) => subject === project.id)).toMatchObject([
      { action: 'project.rename', detail: '{"name":"site"}' },
      { action: 'project.limits' },
      { action: 'project.create' },
    ])
  })

  test('a project that is closed refuses its keys, and settles the requests that run', async () => {
    const { account, project } = await aProject()
    const key = await aKey(account, { project: 'web' })
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gateway.upstream.reply(async exchange => {
      await promise
      return chatAnswer()(exchange)
    })
    const running = ask(key)
    await until('a request runs', () => gateway.upstream.requests.length === 1)

    const closed = await gateway.admin<Project>('POST', `projects/${project.id}/close`)
    const refused = await ask(key)
    open()
    const again = await gateway.admin<Project>('POST', `projects/${project.id}/close`)

    expect((await running).status).toBe(200)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(refused)).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'project_closed',
    })
    expect(closed.closed_at).not.toBeNull()
    expect(again).toEqual({ ...closed, budget_usage: {} } as Project)
    const { totals } = await gateway.admin<{ totals: object }>(
      'GET',
      `usage?account=${account}&from=2027-01-15T00:00:00Z&to=2027-01-16T00:00:00Z`,
    )
    expect(totals).toMatchObject({ charges: 1, cost_usd: '1' })
    expect((await asOperator('POST', `accounts/${account}/keys`, { project: 'web' })).status).toBe(400)
  })

  test('a project has a report of what its keys spent, by day, model and key', async () => {
    const { account, project } = await aProject()
    const [first, second] = [await aKey(account, { project: 'web' }), await aKey(account, { project: 'web' })]
    await ask(first)
    await ask(await aKey(account, {}))
    gateway.clock.jump(86_400_000)
    await ask(second)
    const report = async (query: string) =>
      gateway.admin<{ data: object[]; totals: object }>('GET', `projects/${project.id}/usage${query}`)

    const byDay = await report('')
    const byModel = await report('?by=model')
    const byKey = await report('?by=key&from=2027-01-16T00:00:00Z')

    const sums = { charges: 1, cost_usd: '1', compensated_usd: '0', images: 0, seconds: 0 }
    expect(byDay).toMatchObject({
      project: project.id,
      from: '2027-01-01T00:00:00.000Z',
      to: '2027-01-17T00:00:00.000Z',
      data: [
        { day: '2027-01-15', ...sums },
        { day: '2027-01-16', ...sums },
      ],
      totals: { charges: 2, cost_usd: '2', compensated_usd: '0' },
    })
    expect(byModel.data).toMatchObject([{ model: 'dollar', charges: 2, cost_usd: '2' }])
    expect(byKey).toMatchObject({ data: [{ key: second.id, ...sums }], totals: { cost_usd: '1' } })
  })

  test('sums of usage have the same members with charges and without any', async () => {
    const { account, project } = await aProject()
    const key = await aKey(account, { project: 'web' })
    const range = 'from=2027-01-15T00:00:00Z&to=2027-01-17T00:00:00Z'
    const membersOf = ({ totals = {} }: { totals?: object }) => Object.keys(totals)
    const all = async () => [
      membersOf(await gateway.admin<object>('GET', `projects/${project.id}/usage?by=model`)),
      membersOf(await gateway.admin<object>('GET', `usage?account=${account}&${range}`)),
      membersOf(await gateway.admin<object>('GET', `usage?account=${account}&group_by=user&${range}`)),
      membersOf(await gateway.read<object>(key.key, `/v1/usage?${range}`)),
      membersOf(await gateway.read<object>(key.key, `/v1/usage?group_by=user&${range}`)),
    ]

    const without = await all()
    await (await ask(key)).text()

    const counts = ['charges', 'input_tokens', 'output_tokens', 'images', 'seconds']
    const ofAccount = ['from', 'to', ...counts, 'cost_usd', 'refunded_usd']
    const ofOperator = ['compensated_usd', 'provider_cost_usd', 'margin_usd', 'charges_without_cost']
    const expected = [
      [...counts, 'cost_usd', ...ofOperator],
      [...ofAccount, ...ofOperator],
      [...ofAccount, ...ofOperator],
      ofAccount,
      ofAccount,
    ]
    expect(without).toEqual(expected)
    expect(await all()).toEqual(expected)
  })

  test.each([
    ['?by=week', '"by" must be one of day, model, key.'],
    ['?from=2027-01-15T07:00:00Z', '"from" must be the start of a day in UTC, such as 2026-11-01T00:00:00Z.'],
    ['?from=2026-01-01T00:00:00Z', '"from" must be at most 92 days before now'],
    ['?limit=5', '"limit" is not a parameter of this route'],
  ])('a project refuses a report with %s', async (query, message) => {
    const { project } = await aProject()

    const refused = await fetch(`${gateway.url}/admin/api/projects/${project.id}/usage${query}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    })

    expect(await refusalOf(refused)).toMatchObject({ status: 400, message: expect.stringContaining(message) })
  })

  test.each<[string, string, object, number, string]>([
    [
      'POST',
      'accounts/{account}/projects',
      { name: 'web' },
      409,
      'already has a project with the name "web"',
    ],
    ['POST', 'accounts/{account}/projects', {}, 400, '"name" is missing'],
    ['POST', 'accounts/{account}/projects', { name: 'proj_x' }, 400, 'must not begin with "proj_"'],
    ['POST', 'accounts/none/projects', { name: 'x' }, 404, 'There is no account "none"'],
    [
      'POST',
      'accounts/{account}/keys',
      { project: 'wep' },
      400,
      'There is no project "wep". Did you mean "web"?',
    ],
    ['PATCH', 'projects/proj_none', { name: 'x' }, 404, 'There is no project "proj_none"'],
    ['PATCH', 'projects/{project}', {}, 400, 'changes nothing'],
    ['PATCH', 'projects/{project}', { closed: true }, 400, '"closed" is not a field of this request'],
    ['PATCH', 'projects/{project}', { toString: 1 }, 400, '"toString" is not a field of this request'],
    [
      'PATCH',
      'projects/{project}',
      { per_model: { dollar: { budgets: { day: '1' } } } },
      400,
      '"per_model" is not a field of this request; set limits for a model on an account or on a key',
    ],
    ['PATCH', 'projects/{project}', { budgets: { day: 5 } }, 400, 'budgets.day is 5; write a decimal string'],
  ])('a project refuses %s %s with %j', async (method, path, body, status, message) => {
    const { account, project } = await aProject()

    const refused = await asOperator(
      method,
      path.replace('{account}', account).replace('{project}', project.id),
      body,
    )

    expect(refused.status).toBe(status)
    const { error } = (await refused.json()) as { error: { message: string } }
    expect(error.message).toContain(message)
  })
})
