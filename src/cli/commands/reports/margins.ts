import { withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { csvLine, unknownCosts } from './usage.ts'

/** What the sums are grouped by. */
export const marginGroups = ['model', 'provider', 'account', 'key', 'project', 'day'] as const
type MarginGroup = (typeof marginGroups)[number]

export type MarginOptions = {
  readonly by: MarginGroup
  readonly account?: string
  readonly from?: string
  readonly to?: string
  readonly csv?: true
}

const columns = [
  'charges',
  'revenue_usd',
  'provider_cost_usd',
  'losses_usd',
  'margin_usd',
  'charges_without_cost',
  'losses_without_cost',
] as const

type Sums = {
  readonly [name in (typeof columns)[number]]: name extends `${string}_usd` ? string : number
}

type Row = Sums & Readonly<Partial<Record<MarginGroup | `${MarginGroup}_name`, string | null>>>

type Report = { readonly data: readonly Row[]; readonly next: string | null; readonly totals: Sums }

/** The most that the admin API gives. */
const PAGE_ROWS = '500'

/** Shows what customers paid and what it cost, by model or by another group, as a table or as CSV. */
export async function showMargins(ask: Ask, { csv, ...query }: MarginOptions): Promise<Outcome> {
  const report = await wholeReport(ask, query)
  const groups = groupColumns(query.by)
  const rows = report.data.map(row => [
    ...groups.map(name => row[name] ?? ''),
    ...columns.map(name => String(row[name])),
  ])
  if (csv === true)
    return { value: report, text: [[...groups, ...columns], ...rows].map(csvLine).join('').trimEnd() }
  const head = [
    ...groups.map(name => (name === query.by ? name : 'name').toUpperCase()),
    'CHARGES',
    'REVENUE USD',
    'COST USD',
    'LOSSES USD',
    'MARGIN USD',
    'NO COST',
  ]
  const cells = report.data.map(row => [
    ...groups.map(name => row[name] ?? '–'),
    String(row.charges),
    row.revenue_usd,
    row.provider_cost_usd,
    row.losses_usd,
    row.margin_usd,
    String(row.charges_without_cost),
  ])
  const text = cells.length === 0 ? 'No charges.' : `${table(head, cells)}\n\n${totalsText(report.totals)}`
  return { value: report, text }
}

/** Accounts, keys and projects have an id and a name. */
function groupColumns(by: MarginGroup): readonly (MarginGroup | `${MarginGroup}_name`)[] {
  return by === 'account' || by === 'key' || by === 'project' ? [by, `${by}_name`] : [by]
}

async function wholeReport(ask: Ask, query: Omit<MarginOptions, 'csv'>): Promise<Report> {
  const data: Row[] = []
  for (let cursor: string | undefined; ;) {
    const more = cursor === undefined ? {} : { cursor }
    const path = withQuery('margins', { ...query, limit: PAGE_ROWS, ...more })
    const page = await ask<Report>({ method: 'GET', path })
    data.push(...page.data)
    if (page.next === null) return { ...page, data }
    cursor = page.next
  }
}

function totalsText(totals: Sums): string {
  const { revenue_usd: revenue, provider_cost_usd: cost, losses_usd: losses, margin_usd: margin } = totals
  const { charges, charges_without_cost: unknown, losses_without_cost: unknownLosses } = totals
  const sums = `Revenue: ${revenue} USD. Cost: ${cost} USD. Losses: ${losses} USD. Margin: ${margin} USD.`
  if (unknown + unknownLosses === 0) return sums
  const unknownWork = unknownLosses === 0 ? '' : ` and of ${unknownLosses} losses`
  return `${sums}\n${unknownCosts(`${unknown} of ${charges} charges${unknownWork}`)}`
}
