import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { formatExactUsd } from '../../domain/pricing/exact-usd.ts'
import { readBill } from './read-bill.ts'

const FOLDER = resolve(import.meta.dirname, '../../../test/fixtures/bills')
const fixture = (name: string) => readFileSync(resolve(FOLDER, name), 'utf8')

/** The lines of a bill as text. */
function linesOf(content: string): readonly string[] {
  return Array.from(readBill(content).lines, ({ day, models, amount, ...counts }) => {
    const { requests, inputTokens, outputTokens } = counts
    const usd = amount === null ? '–' : formatExactUsd(amount)
    return [day, models.join('|') || counts.item, usd, requests, inputTokens, outputTokens].join(' ')
  })
}

describe('a bill', () => {
  test.each([
    [
      'openai-costs.json',
      [
        '2024-11-01 gpt-4o-2024-08-06 0.13080438340307526   ',
        '2024-11-01 gpt-4o-2024-08-06 0.06   ',
        '2024-11-01 gpt-4o-mini-2024-07-18 0.000015   ',
        '2024-11-01 web search tool calls 0.03   ',
      ],
    ],
    ['openai-usage.json', ['2024-11-01 gpt-4o-2024-08-06 – 5 52321 6000']],
    [
      'anthropic-cost-report.json',
      ['2026-07-27 claude-sonnet-4-20250514 1.2378912   ', '2026-07-27 Web Search Usage 0.12   '],
    ],
    [
      'anthropic-cost.csv',
      [
        '2026-07-27 Claude Haiku 4.5 0.05   ',
        '2026-07-27 Claude Haiku 4.5 0.02   ',
        '2026-07-28 web_search 0.01   ',
      ],
    ],
    ['openrouter-activity.json', ['2026-08-24 openai/gpt-4.1|openai/gpt-4.1-2025-04-14 0.027 5 50 125']],
    [
      'openrouter-generations.csv',
      [
        '2026-06-28 openai/gpt-4.1-2025-04-14 0.0123 1 10389 137',
        '2026-06-28 openai/gpt-4.1-2025-04-14 0.004 1 100 20',
      ],
    ],
  ])('%s is read exactly', (name, lines) => {
    expect(linesOf(fixture(name))).toEqual(lines)
  })

  test('a bill may begin with a byte order mark', () => {
    expect(linesOf(`\uFEFF${fixture('anthropic-cost.csv')}`)).toHaveLength(3)
    expect(linesOf(`\uFEFF${fixture('openrouter-activity.json')}`)).toHaveLength(1)
  })

  test('a bill of OpenRouter may be the rows of its activity as CSV', () => {
    const csv = 'date,model,usage,byok_usage_inference,requests,prompt_tokens,completion_tokens\n'

    expect(linesOf(`${csv}2026-08-24 00:00:00,openai/gpt-4.1,0.015,0.012,5,50,125\n`)).toEqual([
      '2026-08-24 openai/gpt-4.1 0.027 5 50 125',
    ])
  })

  test('a bill covers the days of its buckets, also without results', () => {
    expect(readBill(fixture('openai-costs.json')).days).toEqual(['2024-11-01', '2024-11-02'])
  })

  test('a bill of which more pages follow says so', () => {
    expect(readBill(fixture('openai-usage.json')).notes).toEqual([
      expect.stringContaining('more pages follow'),
    ])
    expect(readBill(fixture('openai-costs.json')).notes).toEqual([])
  })

  test('a bill that is not grouped by model says how to fetch it', () => {
    const costs = fixture('openai-costs.json').replaceAll(/"line_item": "[^"]*"/g, '"line_item": null')
    const report = fixture('anthropic-cost-report.json').replaceAll(
      /"(model|description|cost_type)": "[^"]*"/g,
      '"$1": null',
    )

    expect(readBill(costs).notes).toEqual([expect.stringContaining('group_by=line_item')])
    expect(readBill(report).notes).toEqual([expect.stringContaining('group_by[]=description')])
  })
})

describe('a file that is not a bill is refused', () => {
  const openAi = fixture('openai-costs.json')
  const usage = fixture('openai-usage.json')
  const anthropic = fixture('anthropic-cost-report.json')
  const csv = fixture('anthropic-cost.csv')

  test.each([
    ['other JSON', '{"hello": 1}', 'has no "data" list'],
    ['a list', '[1]', 'has no "data" list'],
    ['other rows', '{"data": [{"id": 1, "cost": 2}]}', 'has rows with id, cost'],
    ['other columns', 'Date,Amount\n1,2\n', 'has the columns date, amount'],
    ['an empty file', '', 'has the columns '],
    ['broken JSON', '{"data": [', 'is not valid JSON'],
  ])('a file that is not a bill is refused if it is %s', (_, text, message) => {
    expect(() => linesOf(text)).toThrow(message)
  })

  test('a file that is not a bill is refused and the message names the files that can be read', () => {
    expect(() => linesOf('Date,Amount\n')).toThrow(
      'OpenAI: a page of /v1/organization/costs with group_by=line_item',
    )
    expect(() => linesOf('Date,Amount\n')).toThrow('cost_report')
    expect(() => linesOf('Date,Amount\n')).toThrow('/api/v1/activity')
  })

  test.each([
    [
      'an amount that is not a number',
      openAi.replace('0.06', '"6 cents"'),
      'line 19: "amount.value" is "6 cents"',
    ],
    [
      'an amount that is missing',
      openAi.replace('"value": 0.06, ', ''),
      'line 19: "value" must be a number.',
    ],
    ['another currency', openAi.replace('"usd"', '"eur"'), 'line 11: "currency" is "eur"'],
    [
      'a bucket of a week',
      openAi.replace('1730505600', '1731024000'),
      'line 4: the bucket is not within one day',
    ],
    ['a time that is not a number', openAi.replace('1730419200', '"May"'), '"start_time" is "May"'],
    [
      'results of embeddings',
      usage.replace('usage.completions', 'usage.embeddings'),
      'its "object" is "organization.usage.embeddings.result"',
    ],
    ['a count with a fraction', usage.replace('52321', '5.5'), 'line 11: "input_tokens" is "5.5"'],
    ['cents that are no number', anthropic.replace('123.78912', 'many'), 'line 9: "amount" is "many"'],
    [
      'a day that does not exist',
      anthropic.replace('2026-07-27T', '2026-02-30T'),
      '"starting_at" is "2026-02-30',
    ],
    [
      'a usage report',
      anthropic.replace('"amount": "12"', '"uncached_input_tokens": 5'),
      'this is a usage report, which has no amounts',
    ],
    ['a cost that is not a number', csv.replace(',0.02,', ',0.02 USD,'), 'line 3: "cost_usd" is "0.02 USD"'],
    [
      'a date in another form',
      csv.replace('2026-07-28', '28.07.2026'),
      'line 4: "usage_date_utc" is "28.07.2026"',
    ],
  ])(
    'a file that is not a bill is refused if it has %s, and the message names the line',
    (_, text, message) => {
      expect(() => linesOf(text)).toThrow(message)
    },
  )
})
