import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ADMIN_KEY } from '../../support/gateway.ts'
import { runCli } from '../../support/run-cli.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

/** The day of the gateway's clock. */
const DAY = '2027-01-15'
const DAY_S = Date.parse(`${DAY}T00:00:00Z`) / 1000

type Sums = {
  readonly difference_usd: string | null
  readonly compared_with: string
  readonly bill_usd: string | null
  readonly charged_usd: string
  readonly charges: number
  readonly charges_without_provider_cost: number
}
type Report = {
  readonly from: string
  readonly to: string
  readonly data: readonly (Sums & { readonly day: string; readonly model: string; readonly side: string })[]
  readonly totals: Sums
}

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('gpt-y'),
      chatModel('reporting'),
      chatModel('failing-over', {
        upstreams: [
          { provider: 'main', model: 'failing-upstream' },
          { provider: 'other', model: 'gpt-x-upstream', order: 2 },
        ],
      }),
      chatModel('far', { upstreams: [{ provider: 'other', model: 'gpt-x-upstream' }] }),
    ],
    providers: base_url => [{ id: 'other', kind: 'openai-compatible', base_url, api_key: 'another-secret' }],
  })
  const { key } = await gateway.account({ grant: '50' })
  // 10 input and 5 output tokens cost 0.00007 USD.
  for (const model of ['gpt-x', 'gpt-x', 'gpt-y', 'far'])
    await (await gateway.chat(key, { model, messages: [{ role: 'user', content: 'Hello' }] })).arrayBuffer()
})

afterAll(() => gateway.stop())

function run(...args: string[]) {
  const settings = { TOLLGATE_DATA_DIR: gateway.dataDir, TOLLGATE_ADMIN_KEY: ADMIN_KEY }
  return runCli(['reconcile-costs', ...args], settings)
}

/** A page of OpenAI's costs of the day. */
function costsFile(name: string, amounts: Readonly<Record<string, number>>, change: object = {}): string {
  const results = Object.entries(amounts).map(([line_item, value]) => ({
    object: 'organization.costs.result',
    amount: { value, currency: 'usd' },
    line_item,
  }))
  const bucket = { object: 'bucket', start_time: DAY_S, end_time: DAY_S + 86_400, results, ...change }
  const path = join(gateway.dataDir, name)
  writeFileSync(path, JSON.stringify({ object: 'page', data: [bucket], has_more: false, next_page: null }))
  return path
}

async function reportOf(...args: string[]): Promise<Report> {
  const { code, out } = await run(...args, '--json')
  expect(code).toBe(0)
  return JSON.parse(out) as Report
}

describe('reconcile-costs', () => {
  test('reconcile-costs compares the charges of a provider with its bill, the largest difference first', async () => {
    const file = costsFile('costs.json', {
      'gpt-x-upstream, input': 0.00002,
      'gpt-x-upstream, output': 0.0001,
      'gpt-y-upstream, output': 0.5,
      'Image models': 0.06,
    })

    const report = await reportOf('main', file)

    expect(report).toMatchObject({ from: DAY, to: '2027-01-16' })
    expect(report.data).toMatchObject([
      { model: 'gpt-y-upstream', side: 'both', difference_usd: '0.49993', bill_usd: '0.5', charges: 1 },
      { model: 'Image models', side: 'bill', difference_usd: '0.06', charges: 0 },
      {
        day: DAY,
        model: 'gpt-x-upstream',
        side: 'both',
        difference_usd: '-0.00002',
        compared_with: 'charges',
        bill_usd: '0.00012',
        charged_usd: '0.00014',
        charges: 2,
        charges_without_provider_cost: 2,
      },
    ])
    expect(report.totals).toMatchObject({ difference_usd: '0.55991', charged_usd: '0.00021', charges: 3 })
  })

  test('reconcile-costs prints a table with the difference in its first column', async () => {
    const { code, out } = await run('main', costsFile('table.json', { 'gpt-x-upstream, input': 0.5 }))

    expect(code).toBe(0)
    const [title, , head, first, second, total] = out.split('\n')
    expect(title).toBe(`Bill and charges of main, from ${DAY} on and before 2027-01-16, in USD.`)
    expect(head).toMatch(/^DIFFERENCE +DAY +MODEL +BILL +COST +NO COST +CHARGED +CHARGES +ON THE BILL$/)
    expect(first).toMatch(/^0\.49986 \(of charges\) +2027-01-15 +gpt-x-upstream +0\.5 +– +2 +0\.00014 +2 +–$/)
    expect(second).toMatch(/^-0\.00007 \(of charges\) +2027-01-15 +gpt-y-upstream \(not on the bill\) +– /)
    expect(total).toMatch(/^0\.49979 \(of charges\) +total /)
  })

  test('reconcile-costs reads several files, and a range of days', async () => {
    const costs = costsFile('some.json', { 'gpt-x-upstream, input': 0.5 })
    const usage = costsFile(
      'usage.json',
      {},
      {
        results: [
          {
            object: 'organization.usage.completions.result',
            model: 'gpt-x-upstream',
            input_tokens: 20,
            output_tokens: 10,
            num_model_requests: 2,
          },
        ],
      },
    )

    const both = await reportOf('main', costs, usage)
    const before = await reportOf('main', costs, '--from', '2027-01-10', '--to', DAY)

    expect(both.data[0]).toMatchObject({
      bill_usd: '0.5',
      bill_requests: 2,
      bill_input_tokens: 20,
      side: 'both',
    })
    expect(before.data).toEqual([])
  })

  test('reconcile-costs leaves out no day of a range that is longer than one request may be', async () => {
    // The 92 days of the first request end where the charges begin.
    const { totals } = await reportOf('main', costsFile('long.json', {}), '--from', '2026-10-15')

    expect(totals).toMatchObject({ charges: 3, charged_usd: '0.00021' })
  })

  test('reconcile-costs compares with the costs that the provider reported with its answers, if every answer had one', async () => {
    const { key } = await gateway.account({ grant: '50' })
    const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.00005 }
    gateway.upstream.reply(chatAnswer({ usage }))
    await (
      await gateway.chat(key, { model: 'reporting', messages: [{ role: 'user', content: 'Hello' }] })
    ).arrayBuffer()

    const report = await reportOf(
      'main',
      costsFile('reported.json', { 'reporting-upstream, output': 0.00006 }),
    )

    expect(report.data.find(({ model }) => model === 'reporting-upstream')).toMatchObject({
      difference_usd: '0.00001',
      compared_with: 'provider_cost',
      provider_cost_usd: '0.00005',
      charged_usd: '0.00007',
      charges_without_provider_cost: 0,
    })
    expect(report.totals).toMatchObject({ compared_with: 'charges', charges_without_provider_cost: 3 })
  })

  test('reconcile-costs counts the cost of an answer that the provider billed and that no customer paid for', async () => {
    const { key } = await gateway.account({ grant: '50' })
    const usage = { prompt_tokens: 10, completion_tokens: 0, cost: 0.00003 }
    gateway.upstream.reply(chatAnswer({ content: '', usage }))
    await (
      await gateway.chat(key, { model: 'failing-over', messages: [{ role: 'user', content: 'Hello' }] })
    ).arrayBuffer()
    gateway.upstream.reply(chatAnswer())
    const file = costsFile('unpaid.json', { 'failing-upstream, input': 0.00003 })

    const report = await reportOf('main', file)
    const { out } = await run('main', file)

    expect(report.data.find(({ model }) => model === 'failing-upstream')).toMatchObject({
      difference_usd: '0',
      compared_with: 'provider_cost',
      provider_cost_usd: '0.00003',
      charges: 0,
      unpaid: 1,
    })
    expect(out).toMatch(/^0 +2027-01-15 +failing-upstream +0\.00003 +0\.00003 +0 +0 +0 \+ 1 unpaid +–$/m)
  })

  test('reconcile-costs does not subtract refunds, and reads more pages than one', async () => {
    const { key } = await gateway.account({ grant: '50' })
    gateway.clock.jump(86_400_000)
    const chat = () => gateway.chat(key, { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] })
    const ids: string[] = []
    for (let sent = 0; sent < 501; sent += 1) {
      const response = await chat()
      await response.arrayBuffer()
      ids.push(response.headers.get('x-request-id')!)
    }
    await gateway.admin('POST', `charges/${ids[0]}/refund`, {})
    const file = costsFile('next-day.json', {}, { start_time: DAY_S + 86_400, end_time: DAY_S + 172_800 })

    const report = await reportOf('main', file)

    expect(report.data).toMatchObject([
      { day: '2027-01-16', charges: 501, charged_usd: '0.03507', side: 'charges' },
    ])
  })

  test.each([
    [
      'a provider that the catalog does not have',
      ['nobody', 'costs.json'],
      1,
      'no provider "nobody". It has: main, other.',
    ],
    ['a file that is not there', ['main', 'missing.json'], 2, 'cannot be read: there is no such file'],
    ['a file that is not a bill', ['main', 'catalog.yaml'], 2, 'is not a bill that this command can read'],
    [
      'a day that does not exist',
      ['main', 'costs.json', '--from', '2027-02-30'],
      2,
      'Write a day in UTC such as 2026-11-01.',
    ],
    [
      'days in the wrong order',
      ['main', 'costs.json', '--from', '2027-02-01'],
      2,
      'There is no day from 2027-02-01 on',
    ],
  ])('reconcile-costs refuses %s', async (_, [provider, file, ...options], exitCode, message) => {
    costsFile('costs.json', { 'gpt-x-upstream, input': 0.5 })

    const { code, out, err } = await run(provider!, resolve(gateway.dataDir, file!), ...options)

    expect({ code, out }).toEqual({ code: exitCode, out: '' })
    expect(err).toContain(message)
  })

  test('reconcile-costs names the line of a malformed number', async () => {
    const path = costsFile('broken.json', { 'gpt-x-upstream, input': 0.5 })
    writeFileSync(path, readFileSync(path, 'utf8').replace('0.5', '"half"'))

    const { code, err } = await run('main', path)

    expect(code).toBe(2)
    expect(err).toContain(
      `The file ${path} has a mistake in line 1: "amount.value" is "half", but must be a decimal number such as 0.25.`,
    )
  })
})
