import { withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { csvLine } from './usage.ts'

/** What the sums are grouped by. */
export const reportGroups = ['day', 'hour', 'status', 'model', 'provider', 'account'] as const
type ReportGroup = (typeof reportGroups)[number]

export type ReportOptions = {
  readonly by: ReportGroup
  readonly from?: string
  readonly to?: string
  readonly csv?: true
}

const columns = [
  'requests',
  'errors',
  'duration_p50_ms',
  'duration_p99_ms',
  'first_byte_p50_ms',
  'first_byte_p99_ms',
] as const

type Sums = { readonly [name in (typeof columns)[number]]: number | null } & {
  readonly tokens: Readonly<Record<string, number>>
}

type GroupColumn = ReportGroup | 'account_name'

type Row = Sums & Readonly<Partial<Record<GroupColumn, string | number | null>>>

type Report = { readonly data: readonly Row[]; readonly has_more: boolean; readonly totals: Sums }

/** The most groups that the admin API gives. */
const GROUPS_MAX = '500'

/** Shows how many requests there were and how they went, as a table or as CSV. */
export async function showRequestsReport(ask: Ask, { csv, ...query }: ReportOptions): Promise<Outcome> {
  const path = withQuery('requests/report', { ...query, limit: GROUPS_MAX })
  const report = await ask<Report>({ method: 'GET', path })
  const groups: readonly GroupColumn[] = query.by === 'account' ? ['account', 'account_name'] : [query.by]
  const cells = report.data.map(row => [
    ...groups.map(name => String(row[name] ?? '')),
    ...columns.map(name => String(row[name] ?? '')),
    String(sumOf(row.tokens)),
  ])
  if (csv === true) {
    const head = [...groups, ...columns, 'tokens']
    return { value: report, text: [head, ...cells].map(csvLine).join('').trimEnd() }
  }
  if (cells.length === 0) return { value: report, text: 'No requests.' }
  const head = [
    ...groups.map(name => (name === query.by ? name : 'name').toUpperCase()),
    'REQUESTS',
    'ERRORS',
    'P50 MS',
    'P99 MS',
    'FIRST BYTE P50',
    'P99',
    'TOKENS',
  ]
  const { requests, errors } = report.totals
  const more = report.has_more ? `\nOnly the ${GROUPS_MAX} groups with the most requests are shown.` : ''
  return { value: report, text: `${table(head, cells)}\n\nRequests: ${requests}. Errors: ${errors}.${more}` }
}

function sumOf(tokens: Readonly<Record<string, number>>): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}
