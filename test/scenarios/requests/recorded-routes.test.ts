import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  billableRoutes,
  startLimitedGateway,
  type Asked,
  type Holder,
  type LimitedGateway,
} from '../gateways/limited-gateway.ts'
import { until } from '../../support/until.ts'

/** A record in the list of the operator. */
type Row = {
  readonly id: string
  readonly route: string
  readonly model: string | null
  readonly status: number
  readonly error_code: string | null
  readonly refused_by: { readonly scope: string; readonly limit: string } | null
  readonly held_usd: string | null
  readonly cost_usd: string | null
  readonly job: string | null
  readonly key: string
}

let gateway: LimitedGateway

beforeAll(async () => {
  gateway = await startLimitedGateway({ environment: { TOLLGATE_REQUEST_RECORDS_DAYS: '7' } })
})
afterAll(() => gateway.stop())

/** Sends a request, and returns its record. */
async function recorded(holder: Holder, asked: Asked): Promise<Row> {
  const response = await gateway.send(holder, asked)
  await response.text()
  const id = response.headers.get('x-request-id') ?? response.headers.get('request-id')
  let row: Row | undefined
  await until('the request is recorded', async () => {
    row = (await listed(`key=${holder.keyId}`)).find(each => each.id === id)
    return row !== undefined
  })
  return row!
}

async function listed(query: string): Promise<readonly Row[]> {
  return (await gateway.admin<{ data: Row[] }>('GET', `requests?${query}`)).data
}

describe.each(Object.entries(billableRoutes))('the record of %s', (name, request) => {
  const isMedia = /^(images|videos)/.test(name)

  test('a served request has its route, its model and its hold', async () => {
    const holder = await gateway.aKey()
    const asked = request()

    const row = await recorded(holder, asked)

    expect(row).toMatchObject({
      route: isMedia ? name : asked.path.split('/').at(-1)!.replace('completions', 'chat'),
      model: (asked.body as { model: string }).model,
      error_code: null,
      refused_by: null,
      key: holder.keyId,
    })
    expect(row.status).toBeLessThan(300)
    expect(Number(row.held_usd)).toBeGreaterThan(0)
    expect(row.job !== null).toBe(isMedia)
    if (!isMedia) expect(Number(row.cost_usd)).toBeGreaterThan(0)
  })

  test('a request that a rate refuses names the limit, and so does one that is refused from memory', async () => {
    const holder = await gateway.aKey({ limits: { requests_per_minute: 1 } })
    await recorded(holder, request())

    const refused = await recorded(holder, request())
    const remembered = await recorded(holder, request())

    const refusal = {
      status: 429,
      error_code: 'requests_per_minute',
      refused_by: { scope: 'key', limit: 'requests_per_minute' },
      held_usd: null,
      cost_usd: null,
    }
    expect(refused).toMatchObject(refusal)
    // Its body was not read.
    expect(remembered).toMatchObject({ ...refusal, route: refused.route, model: null })
  })

  test.each(['day', 'week', 'month', 'total'])(
    'a request that a %s budget refuses names it',
    async period => {
      const [holder] = await gateway.keysOfProject({ budgets: { [period]: '0' } })

      expect(await recorded(holder, request())).toMatchObject({
        status: 402,
        error_code: 'budget_exceeded',
        refused_by: { scope: 'project', limit: `${period}_budget` },
      })
    },
  )
})

test('the page of a refused request says which limit refused it, and requests can be listed by project', async () => {
  const [holder] = await gateway.keysOfProject({ limits: { tokens_per_minute: 1 } })
  const { id } = await recorded(holder, billableRoutes['chat JSON']())

  const page = await gateway.read<{ why: string[]; request: { project: string } }>(
    holder.key,
    `/v1/requests/${id}`,
  )

  const { project } = page.request
  const own = await gateway.read<{ data: Row[] }>(holder.key, `/v1/requests?project=${project}`)
  expect(page.why).toContain('It was refused by the limit "tokens per minute" of its project.')
  expect((await listed(`project=${project}`)).map(row => row.id)).toEqual([id])
  expect(own.data.map(row => row.id)).toEqual([id])
  expect(await listed('project=proj_unknown')).toEqual([])
  const wrong = await fetch(`${gateway.url}/v1/requests?project=web`, {
    headers: { 'x-api-key': holder.key },
  })
  expect([wrong.status, await wrong.text()]).toEqual([
    400,
    expect.stringContaining('must be the id of a project'),
  ])
})
