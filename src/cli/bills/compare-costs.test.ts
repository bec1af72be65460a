import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BillLine } from './bill.ts'
import { formatExactUsd, parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { compareCosts, type ChargedDay, type ComparedDay } from './compare-costs.ts'

const DAY = '2026-11-01'
const usd = (text: string) => parseExactUsd(text)!

function billed(model: string, amount: string | null, change: Partial<BillLine> = {}): BillLine {
  const counts = { requests: null, inputTokens: null, outputTokens: null }
  return {
    day: DAY,
    models: [model],
    item: 'tokens',
    amount: amount === null ? null : usd(amount),
    ...counts,
    ...change,
  }
}

/** Charges of a row, of which the last ones have no cost. */
function charged(
  row: string,
  amount: string,
  change: { cost?: string; charges?: number; unpaid?: number; withoutCost?: number; day?: string } = {},
): ChargedDay {
  const {
    cost = '0',
    charges = 1,
    unpaid = 0,
    withoutCost = change.cost === undefined ? charges : 0,
    day = DAY,
  } = change
  return { day, row, charges, unpaid, charged: usd(amount), providerCost: usd(cost), withoutCost }
}

const served = [
  { row: 'gpt', upstreamModels: ['gpt-4o-2024-08-06'] },
  { row: 'haiku', upstreamModels: ['claude-haiku-4-5-20251001'] },
]

/** The model, the side and the difference of each day. */
function summaryOf(days: readonly ComparedDay[]): readonly string[] {
  return days.map(({ model, side, difference, comparedWith }) =>
    [model, side, difference === null ? '–' : formatExactUsd(difference), comparedWith].join(' '),
  )
}

const compare = (bill: readonly BillLine[], charges: readonly ChargedDay[], rows = served) =>
  summaryOf(compareCosts(bill, charges, rows).days)

describe('a bill is compared', () => {
  test('a bill is compared with the recorded costs if every charge has one, otherwise with the charges', () => {
    const bill = [billed('gpt-4o-2024-08-06', '1')]

    expect(compare(bill, [charged('gpt', '3', { cost: '0.9' })])).toEqual([
      'gpt-4o-2024-08-06 both 0.1 provider_cost',
    ])
    expect(compare(bill, [charged('gpt', '3', { cost: '0.9', charges: 2, withoutCost: 1 })])).toEqual([
      'gpt-4o-2024-08-06 both -2 charges',
    ])
  })

  test('a bill is compared with the recorded costs of work that no customer paid for, also if there is no charge', () => {
    const unpaid = charged('gpt', '0', { cost: '0.4', charges: 0, unpaid: 2 })
    const bill = [billed('gpt-4o-2024-08-06', '1')]

    expect(compare(bill, [unpaid])).toEqual(['gpt-4o-2024-08-06 both 0.6 provider_cost'])
    expect(compare(bill, [unpaid, charged('gpt', '3', { cost: '0.6' })])).toEqual([
      'gpt-4o-2024-08-06 both 0 provider_cost',
    ])
  })

  test('a bill is compared for each day, the largest difference first, regardless of its sign', () => {
    const bill = [
      billed('gpt-4o-2024-08-06', '1'),
      billed('gpt-4o-2024-08-06', '1', { day: '2026-11-02' }),
      billed('claude-haiku-4-5-20251001', '5'),
    ]
    const charges = [charged('gpt', '1.5'), charged('gpt', '3', { day: '2026-11-02' }), charged('haiku', '4')]

    const { days } = compareCosts(bill, charges, served)

    expect(days.map(({ day }) => day)).toEqual(['2026-11-02', '2026-11-01', '2026-11-01'])
    expect(summaryOf(days)).toEqual([
      'gpt-4o-2024-08-06 both -2 charges',
      'claude-haiku-4-5-20251001 both 1 charges',
      'gpt-4o-2024-08-06 both -0.5 charges',
    ])
  })

  test('a bill is compared and lines that only one side has are shown as such', () => {
    const bill = [billed('o9', '2'), billed('', '0.3', { models: [], item: 'Web Search Usage' })]

    expect(compare(bill, [charged('gpt', '1'), charged('gone', '0.1')])).toEqual([
      'o9 bill 2 charges',
      'gpt-4o-2024-08-06 charges -1 charges',
      'Web Search Usage bill 0.3 charges',
      'gone charges -0.1 charges',
    ])
  })

  test('a bill is compared with counts only has no differences', () => {
    const bill = [billed('gpt-4o-2024-08-06', null, { requests: 5, inputTokens: 7, outputTokens: 8 })]
    const { days, totals } = compareCosts(bill, [charged('gpt', '1'), charged('haiku', '2')], served)

    expect(summaryOf(days)).toEqual([
      'claude-haiku-4-5-20251001 charges – charges',
      'gpt-4o-2024-08-06 both – charges',
    ])
    expect(totals).toMatchObject({ requests: 5, inputTokens: 7, outputTokens: 8, difference: null })
  })

  test('a bill is compared and the counts of one file join the amounts of another one', () => {
    const bill = [billed('gpt-4o-2024-08-06', '1'), billed('gpt-4o-2024-08-06', null, { requests: 5 })]

    expect(compareCosts(bill, [charged('gpt', '3')], served).days).toMatchObject([
      { requests: 5, side: 'both' },
    ])
  })
})

describe('a model on a bill is matched', () => {
  test.each([
    ['its exact name', 'gpt-4o-2024-08-06'],
    ['its name without a date', 'gpt-4o'],
    ['its name for people', 'Claude Haiku 4.5'],
    ['its name without a date and with a point', 'claude-haiku-4.5'],
    ['the latest alias', 'claude-haiku-4-5-latest'],
  ])('a model on a bill is matched by %s', (_, name) => {
    const row = name.includes('gpt') ? 'gpt' : 'haiku'

    expect(compareCosts([billed(name, '1')], [charged(row, '1')], served).days).toMatchObject([
      { side: 'both', rows: [row] },
    ])
  })

  test('a model on a bill is matched by the second name of the bill if the first one is unknown', () => {
    const line = billed('alias', '1', { models: ['alias', 'gpt-4o-2024-08-06'] })

    expect(compare([line], [charged('gpt', '1')])).toEqual(['gpt-4o-2024-08-06 both 0 charges'])
  })

  test('a model on a bill is matched by the name of a row that the catalog does not have any more', () => {
    expect(compare([billed('old-model', '1')], [charged('old-model', '2')])).toEqual([
      'old-model both -1 charges',
    ])
  })

  test('a model on a bill is matched with no model if its short form fits several', () => {
    const rows = [
      { row: 'a', upstreamModels: ['gpt-4o-2024-08-06'] },
      { row: 'b', upstreamModels: ['gpt-4o-2024-11-20'] },
    ]

    expect(compare([billed('gpt-4o', '1')], [], rows)).toEqual(['gpt-4o bill 1 charges'])
    expect(compare([billed('gpt-4o-2024-11-20', '1')], [charged('b', '1')], rows)).toEqual([
      'gpt-4o-2024-11-20 both 0 charges',
    ])
  })

  test('a model on a bill is matched with all rows that share it, and with all models of a row', () => {
    const rows = [
      { row: 'cheap', upstreamModels: ['m-1'] },
      { row: 'other', upstreamModels: ['m-9'] },
      { row: 'mixed', upstreamModels: ['m-1', 'm-2'] },
    ]
    const bill = [billed('m-1', '1'), billed('m-2', '2')]

    expect(compareCosts(bill, [charged('cheap', '1'), charged('mixed', '4')], rows).days).toMatchObject([
      { model: 'm-1 + m-2', rows: ['cheap', 'mixed'], charges: 2, side: 'both' },
    ])
  })
})

test('no line of either side is lost or counted twice', () => {
  const name = fc.constantFrom('gpt', 'haiku', 'gone', 'gpt-4o', 'gpt-4o-2024-08-06', 'o9')
  const day = fc.constantFrom('2026-11-01', '2026-11-02')
  const cents = fc.integer({ min: -500, max: 5000 })
  const line = fc.record({ name, day, cents })
  const dollars = (amount: number) => ({ units: BigInt(amount), scale: 2 })

  fc.assert(
    fc.property(fc.array(line), fc.array(line), (onBill, inBooks) => {
      const { days, totals } = compareCosts(
        onBill.map(made => billed(made.name, null, { day: made.day, amount: dollars(made.cents) })),
        inBooks.map(made => ({
          ...charged(made.name, '0', { day: made.day }),
          charged: dollars(made.cents),
        })),
        served,
      )

      const sum = (lines: readonly { cents: number }[]) =>
        lines.reduce((total, made) => total + made.cents, 0)
      const text = (amount: number) => formatExactUsd(dollars(amount))
      expect(formatExactUsd(totals.charged)).toBe(text(sum(inBooks)))
      expect(totals.charges).toBe(inBooks.length)
      if (onBill.length > 0) {
        expect(formatExactUsd(totals.billed!)).toBe(text(sum(onBill)))
        expect(formatExactUsd(totals.difference!)).toBe(text(sum(onBill) - sum(inBooks)))
      }
      const differences = days.map(({ difference }) => Math.abs(Number(difference?.units ?? 0n)))
      expect(differences).toEqual(differences.toSorted((left, right) => right - left))
    }),
  )
})
