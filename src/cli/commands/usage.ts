import { withQuery, type Ask } from '../ask.ts'
import { table, type Outcome } from '../outcome.ts'

type UsageFilters = { readonly account?: string; readonly from?: string; readonly to?: string }

type UsageReply = {
  readonly data: readonly UsageRow[]
  readonly next: string | null
  /** The cost is net of the refunds. */
  readonly totals?: { readonly charges: number; readonly cost_usd: string; readonly refunded_usd: string }
}

/** A charged request or job in the admin API, or a refund of one. */
export type UsageRow = {
  readonly id: string
  readonly created_at: string
  readonly account: string | null
  readonly account_name: string | null
  readonly key: string | null
  readonly route: string
  readonly model: string
  readonly provider: string
  /** Negative for a refund. */
  readonly cost_usd: string
} & (
  | {
      readonly object: 'usage'
      readonly usage: Readonly<Record<string, number>>
      /** The cost that the provider reported. */
      readonly provider_cost_usd: string | null
      readonly source: string
      readonly is_clamped: boolean
    }
  | { readonly object: 'refund'; readonly charge: string }
)

export type ChargeRow = Extract<UsageRow, { readonly object: 'usage' }>

/** The most that the admin API gives. */
const PAGE_ROWS = '500'

/** Prints one page of charged requests, jobs and refunds, newest first. */
export async function listUsage(
  ask: Ask,
  filters: UsageFilters & { readonly limit: string; readonly cursor?: string },
): Promise<Outcome> {
  const page = await ask<UsageReply>({ method: 'GET', path: withQuery('usage', filters) })
  const rows = page.data.map(row => [
    row.created_at,
    row.id,
    row.account_name ?? '–',
    row.model,
    measureOf(row),
    row.cost_usd,
    chargeOf(row)?.provider_cost_usd ?? '–',
  ])
  const { totals } = page
  const sum = totals === undefined ? [] : ['', sumText(totals)]
  const head = ['CREATED', 'ID', 'ACCOUNT', 'MODEL', 'USAGE', 'USD', 'PROVIDER USD']
  return {
    value: page,
    text: rows.length === 0 ? 'No usage.' : [table(head, rows), ...sum].join('\n'),
    ...(page.next === null ? {} : { note: `Older usage: --cursor ${page.next}` }),
  }
}

function sumText(totals: NonNullable<UsageReply['totals']>): string {
  const { charges, cost_usd: cost, refunded_usd: refunded } = totals
  const net = refunded === '0' ? '' : `, net of refunds of ${refunded} USD`
  return `Charges: ${charges}. Cost: ${cost} USD${net}.`
}

/** All charged requests, jobs and refunds as CSV, newest first. It reads page by page, so that the output can be long. */
export async function usageCsv(ask: Ask, filters: UsageFilters): Promise<Outcome> {
  // Before anything is written, so that wrong filters print no header.
  const first = await ask<UsageReply>({
    method: 'GET',
    path: withQuery('usage', { ...filters, limit: PAGE_ROWS }),
  })
  return { value: undefined, text: '', chunks: csvChunks(ask, filters, first) }
}

async function* csvChunks(ask: Ask, filters: UsageFilters, first: UsageReply): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name))
  for await (const rows of usagePages(ask, filters, first))
    yield rows.map(row => csvLine(columns.map(([, valueOf]) => valueOf(row)))).join('')
}

/** All charged requests, jobs and refunds, page by page. `first` is the first page, if it was read before. */
export async function* usagePages(
  ask: Ask,
  filters: UsageFilters,
  first?: UsageReply,
): AsyncGenerator<readonly UsageRow[]> {
  const query = { ...filters, limit: PAGE_ROWS }
  let page = first ?? (await ask<UsageReply>({ method: 'GET', path: withQuery('usage', query) }))
  for (;;) {
    yield page.data
    if (page.next === null) return
    page = await ask<UsageReply>({ method: 'GET', path: withQuery('usage', { ...query, cursor: page.next }) })
  }
}

type ValueOf = (row: UsageRow) => string | number | boolean | null

const counts = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'reasoning_tokens',
  'audio_output_tokens',
  'server_tool_uses',
  'assumed_cached_tokens',
  'search_calls',
  'file_searches',
  'service_tier',
  'images',
  'text_input_tokens',
  'image_input_tokens',
  'text_output_tokens',
  'image_output_tokens',
  'seconds',
] as const

const columns: readonly (readonly [string, ValueOf])[] = [
  ['id', row => row.id],
  ['created_at', row => row.created_at],
  ['account', row => row.account],
  ['account_name', row => row.account_name],
  ['key', row => row.key],
  ['route', row => row.route],
  ['model', row => row.model],
  ['provider', row => row.provider],
  ...counts.map((name): readonly [string, ValueOf] => [name, row => chargeOf(row)?.usage[name] ?? null]),
  ['cost_usd', row => row.cost_usd],
  ['provider_cost_usd', row => chargeOf(row)?.provider_cost_usd ?? null],
  ['source', row => chargeOf(row)?.source ?? null],
  ['is_clamped', row => chargeOf(row)?.is_clamped ?? null],
  ['refund_of', row => (row.object === 'refund' ? row.charge : null)],
]

function chargeOf(row: UsageRow): ChargeRow | undefined {
  return row.object === 'usage' ? row : undefined
}

/** One line as in RFC 4180. A missing value is empty. */
function csvLine(values: readonly (string | number | boolean | null)[]): string {
  const cells = values.map(value => {
    const text = String(value ?? '')
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${cells.join(',')}\r\n`
}

function measureOf(row: UsageRow): string {
  if (row.object === 'refund') return `refund of ${row.charge}`
  const { usage } = row
  if (usage['images'] !== undefined) return `${usage['images']} images`
  if (usage['seconds'] !== undefined) return `${usage['seconds']} s`
  return `${usage['input_tokens']} + ${usage['output_tokens']} tokens`
}
