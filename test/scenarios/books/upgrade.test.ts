import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'

/**
 * The data folder of a gateway of November 2026, of the schema with five migrations: before ids, commits and jobs. It
 * was killed while an answer was late. `record.ts` made it.
 */
const FIXTURE = resolve(import.meta.dirname, '../../fixtures/schema-5')
const ADMIN_KEY = 'tg_admin_for_upgrades'

type Row = Readonly<Record<string, unknown>> & { readonly id: string }
type Page = { readonly data: readonly Row[] }

/** What the old version showed of an account. */
type SeenAccount = {
  readonly name: string
  readonly id: string
  readonly key: string
  readonly keyId: string
  readonly account: { readonly available_usd: string }
  readonly balance: object
  readonly credits: object
  readonly usage: Page
  readonly statement: Page
}

const seen = JSON.parse(readFileSync(join(FIXTURE, 'seen.json'), 'utf8')) as {
  readonly secretKey: string
  readonly revokedKey: string
  readonly accounts: readonly SeenAccount[]
}
const accounts = seen.accounts.map(account => [account.name, account] as const)
const [ada] = seen.accounts as readonly [SeenAccount]

let gateway: GatewayProcess

beforeAll(async () => {
  const dataDir = aDataFolder()
  const database = new Database(join(dataDir, 'tollgate.db'))
  database.run(readFileSync(join(FIXTURE, 'books.sql'), 'utf8'))
  database.close()
  writeFileSync(join(dataDir, 'secret.key'), seen.secretKey)
  gateway = await startGatewayProcess(dataDir, {
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_REPLAY_TTL_S: '0',
  })
})
afterAll(() => gateway.kill())

async function get<Answer>(key: string, path: string): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  return (await response.json()) as Answer
}

async function admin<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

function chat(key: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'play', max_tokens: 20, messages: [{ role: 'user', content: 'New' }] }),
  })
}

async function expectSound(): Promise<void> {
  expect(await admin('POST', 'verify')).toMatchObject({ ok: true, problems: [] })
  expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200)
}

describe('a data folder of the schema before ids, commits and jobs', () => {
  test('a data folder of the schema before ids, commits and jobs is sound after the upgrade, and the late answer that was lost is closed without a charge', async () => {
    await expectSound()

    await admin('POST', 'reconcile')

    await expectSound()
    expect(await get(ada.key, '/v1/balance')).toMatchObject(ada.balance)
  })

  test.each(accounts)(
    'a data folder of the schema before ids, commits and jobs has the same balance of %s',
    async (_, { id, key, account, balance, credits }) => {
      expect(await admin('GET', `accounts/${id}`)).toMatchObject(account)
      expect(await get(key, '/v1/balance')).toMatchObject(balance)
      expect(await get(key, '/v1/credits')).toEqual(credits)
    },
  )

  test.each(accounts)(
    'a data folder of the schema before ids, commits and jobs has the same usage of %s, and the same totals',
    async (_, { key, usage }) => {
      const page = await get<Page>(key, '/v1/usage?limit=500')
      const day = '/v1/usage?from=2026-11-22T00:00:00Z&to=2026-11-23T00:00:00Z'
      const { totals } = await get<{ totals: object }>(key, day)

      expect(page.data).toHaveLength(usage.data.length)
      expect(page.data).toMatchObject(usage.data)
      const costs = usage.data.map(row => usd(String(row['cost_usd'])))
      expect(totals).toMatchObject({
        charges: usage.data.length,
        cost_usd: formatUsd(nanoUsd(costs.reduce((sum, cost) => sum + cost, 0n))),
      })
    },
  )

  test.each(accounts)(
    'a data folder of the schema before ids, commits and jobs has the same statement of %s, also in pages',
    async (_, { id, statement }) => {
      const rows: Row[] = []
      for (let next: string | null = ''; next !== null;) {
        const page: Page & { next: string | null } = await admin(
          'GET',
          `accounts/${id}/statement?limit=4${next}`,
        )
        rows.push(...page.data)
        next = page.next && `&cursor=${page.next}`
      }

      expect(rows).toEqual(statement.data as Row[])
    },
  )

  test('a data folder of the schema before ids, commits and jobs accepts the old keys, and refuses the revoked one', async () => {
    const listed = await admin<Page>('GET', `accounts/${ada.id}/keys`)
    const refused = await chat(seen.revokedKey)

    expect(listed.data.map(({ id }) => id)).toEqual([ada.keyId])
    expect(refused.status).toBe(401)
  })

  test('a data folder of the schema before ids, commits and jobs reads the stored key of a provider', async () => {
    const { checks } = await admin<{ checks: readonly { name: string; detail: string }[] }>('GET', 'doctor')

    const remote = checks.filter(({ name }) => name.includes('remote')).map(({ detail }) => detail)

    expect(remote.join()).not.toMatch(/key/i)
    expect(remote.length).toBeGreaterThan(0)
  })

  test('a data folder of the schema before ids, commits and jobs charges the first chat after the upgrade, and refunds an old charge by its id', async () => {
    const before = await admin<{ available_usd: string }>('GET', `accounts/${ada.id}`)
    const response = await chat(ada.key)
    const cost = response.headers.get('x-service-cost-usd')!
    const oldest = ada.usage.data.at(-1)!

    const refund = await admin<{ amount_usd: string }>('POST', `charges/${oldest.id}/refund`, {})

    const after = await admin<{ available_usd: string }>('GET', `accounts/${ada.id}`)
    expect(refund.amount_usd).toBe(String(oldest['cost_usd']))
    expect(usd(cost)).toBeGreaterThan(0n)
    expect(usd(after.available_usd)).toBe(
      nanoUsd(usd(before.available_usd) - usd(cost) + usd(refund.amount_usd)),
    )
    expect((await get<Page>(ada.key, '/v1/usage')).data[0]!.id).toBe(response.headers.get('x-request-id')!)
    await expectSound()
  })
})
