import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import {
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
  type UsageRow,
} from '../gateways/scripted-gateway.ts'
import { answeredCases } from './settlement/answered-cases.ts'
import { settlementModels, settlementProviders } from './settlement/models.ts'
import { AN_ESTIMATE, THE_WORST_CASE, type SettlementCase } from './settlement/settlement-case.ts'
import { unansweredCases } from './settlement/unanswered-cases.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway
let poor: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: settlementModels,
    providers: settlementProviders,
    environment: { TOLLGATE_MAX_BODY_MB: '1' },
  })
  poor = await gateway.account({ grant: '0' })
})
afterAll(() => gateway.stop())

const rows = Map.groupBy([...answeredCases, ...unansweredCases], ({ row }) => row)

describe.each([...rows])('%s', (_, cases) => {
  test.each(cases.map(settlement => [settlement.title, settlement] as const))('%s', async (_, settlement) => {
    const {
      grant = '10',
      refused,
      costInReply,
      source = 'reported',
      isClamped = false,
      asked = 1,
    } = settlement
    const account = await gateway.account({ grant })
    const before = gateway.upstream.requests.length

    const response = await play(settlement, account)

    const cost = costInReply === THE_WORST_CASE ? await worstCaseOf(settlement) : costInReply
    if (response !== undefined) await expectReply(response, { status: 200, ...refused, cost })
    if (response === undefined)
      await until('the request is charged', async () => (await chargesOf(account)).length > 0)
    const charges = await chargesOf(account)
    const charged = await chargedFor(settlement, cost, charges)
    expect(charges.map(summary)).toEqual(refused === undefined ? [{ cost: charged, source, isClamped }] : [])
    expect(charges[0]?.usage ?? {}).toMatchObject(settlement.usage ?? {})
    const left = formatUsd(nanoUsd(usd(grant) - usd(charged)))
    expect(await account.balance()).toMatchObject({ available_usd: left, held_usd: '0' })
    expect(gateway.upstream.requests.length - before).toBe(asked)
    await expectNothingHeld(gateway, account)
  })
})

test('every row of the table in docs/settlement.md has a case, and every case has a row', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/settlement.md'), 'utf8')
  const section = text.split('\n## ').find(part => part.startsWith('JSON replies\n')) ?? ''
  const cells = section
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.split('|')[1]?.trim())
  const [, ...documented] = cells.filter(cell => !/^-+$/.test(cell ?? ''))

  expect(new Set(documented)).toEqual(new Set(rows.keys()))
})

function body({ model = 'gpt-x', request = {} }: SettlementCase): object {
  return { model, messages: [{ role: 'user', content: 'Hello' }], ...request }
}

function play(settlement: SettlementCase, account: TestAccount): Promise<Response | undefined> {
  const { reply = chatAnswer(), play: playIt, key = account.key } = settlement
  gateway.upstream.reply(reply)
  const ask = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body(settlement)),
      ...(signal === undefined ? {} : { signal }),
    })
  return playIt === undefined ? ask() : playIt(gateway, ask)
}

async function expectReply(
  response: Response,
  expected: { readonly status: number; readonly code?: string | undefined; readonly cost: string | null },
): Promise<void> {
  const { usage, error } = (await response.json()) as {
    usage?: { cost_usd?: string } | null
    error?: { code?: string }
  }
  expect({ status: response.status, code: error?.code }).toEqual({
    status: expected.status,
    code: expected.code,
  })
  expect(response.headers.get('x-service-cost-usd')).toBe(expected.cost)
  const isObject = typeof usage === 'object' && usage !== null
  if (isObject) expect(usage.cost_usd).toBe(expected.cost ?? undefined)
}

async function chargesOf(account: TestAccount): Promise<readonly UsageRow[]> {
  return (await gateway.read<{ data: UsageRow[] }>(account.key, '/v1/usage')).data
}

function summary({ cost_usd: cost, source, is_clamped: isClamped }: UsageRow) {
  return { cost, source, isClamped }
}

/** The amount that the ledger must contain. */
async function chargedFor(
  settlement: SettlementCase,
  cost: string | null,
  charges: readonly UsageRow[],
): Promise<string> {
  const { charged = cost ?? '0' } = settlement
  if (charged !== AN_ESTIMATE) return charged
  const estimate = charges[0]?.cost_usd ?? '0'
  expect(usd(estimate)).toBeGreaterThan(0n)
  expect(usd(estimate)).toBeLessThanOrEqual(usd(await worstCaseOf(settlement)))
  return estimate
}

/** The `required_usd` of a 402 for this request: its worst-case price. */
async function worstCaseOf(settlement: SettlementCase): Promise<string> {
  const response = await gateway.chat(poor.key, body(settlement))
  return ((await response.json()) as { required_usd: string }).required_usd
}
