import { withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'

type UsageFilters = {
  readonly account?: string
  readonly from?: string
  readonly to?: string
  readonly tag?: string
  readonly user?: string
  /** Its id. */
  readonly project?: string
}

type UsageReply = {
  readonly data: readonly UsageRow[]
  readonly next: string | null
  readonly totals?: Totals
}

type Totals = OperatorSums & {
  readonly charges: number
  /** Net of the refunds. */
  readonly cost_usd: string
  readonly refunded_usd: string
}

/** The sums of charges that only the operator sees. */
export type OperatorSums = {
  readonly compensated_usd: string
  readonly provider_cost_usd: string
  readonly margin_usd: string
  readonly charges_without_cost: number
}

/** For whom a request was made. Members are absent for none. */
export type Attributed = {
  readonly tags?: Readonly<Record<string, string>>
  readonly user?: string
}

/** A charged request or job in the admin API, or a refund of one. */
export type UsageRow = {
  readonly id: string
  readonly created_at: string
  readonly account: string | null
  readonly account_name: string | null
  readonly key: string | null
  /** The id of the project of the key. */
  readonly project: string | null
  readonly route: string
  readonly model: string
  readonly provider: string
  /** Negative for a refund. */
  readonly cost_usd: string
} & Attributed &
  (
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
    ...attributionCells(row, page.data),
  ])
  const { totals } = page
  const sum = totals === undefined ? [] : ['', sumText(totals)]
  const head = [
    'CREATED',
    'ID',
    'ACCOUNT',
    'MODEL',
    'USAGE',
    'USD',
    'PROVIDER USD',
    ...attributionHead(page.data),
  ]
  return {
    value: page,
    text: rows.length === 0 ? 'No usage.' : [table(head, rows), ...sum].join('\n'),
    ...(page.next === null ? {} : { note: `Older usage: --cursor ${page.next}` }),
  }
}

function sumText(totals: Totals): string {
  const { charges, cost_usd: cost, refunded_usd: refunded } = totals
  const net = refunded === '0' ? '' : `, net of refunds of ${refunded} USD`
  return `Charges: ${charges}. Cost: ${cost} USD${net}.\n${operatorText(totals)}`
}

/** What the charges cost the operator, in a line, and in a second one what is not known. */
export function operatorText(totals: OperatorSums & { readonly charges: number }): string {
  const { charges, compensated_usd: compensated, charges_without_cost: unknown } = totals
  const back = compensated === '0' ? '' : ` Credited back: ${compensated} USD.`
  const sums = `Provider cost: ${totals.provider_cost_usd} USD.${back} Margin: ${totals.margin_usd} USD.`
  return unknown === 0 ? sums : `${sums}\n${unknownCosts(`${unknown} of ${charges} charges`)}`
}

/** What is not in a margin, and what to do about it. */
export function unknownCosts(work: string): string {
  return (
    `The cost of ${work} is not known, so the margin is lower. ` +
    'Write the cost of the upstream in the row of the model.'
  )
}

type GroupRow = OperatorSums & {
  /** Null for requests without the tag or the user. */
  readonly value: string | null
  readonly charges: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly seconds: number
  /** Net of the refunds. */
  readonly cost_usd: string
  readonly refunded_usd: string
}

type GroupsReply = Pick<UsageReply, 'next' | 'totals'> & { readonly data: readonly GroupRow[] }

type Grouped = UsageFilters & { readonly group_by: string }

/** Prints one page of the sums of each tag value or user. */
export async function listUsageGroups(
  ask: Ask,
  filters: Grouped & { readonly limit: string; readonly cursor?: string },
): Promise<Outcome> {
  const page = await ask<GroupsReply>({ method: 'GET', path: withQuery('usage', filters) })
  const rows = page.data.map(row => [
    row.value ?? '–',
    String(row.charges),
    `${row.input_tokens} + ${row.output_tokens}`,
    String(row.images),
    String(row.seconds),
    row.cost_usd,
    row.provider_cost_usd,
    row.margin_usd,
    String(row.charges_without_cost),
  ])
  const head = [
    filters.group_by.toUpperCase(),
    'CHARGES',
    'TOKENS',
    'IMAGES',
    'SECONDS',
    'USD',
    'PROVIDER USD',
    'MARGIN USD',
    'NO COST',
  ]
  const sum = page.totals === undefined ? [] : ['', sumText(page.totals)]
  return {
    value: page,
    text: rows.length === 0 ? 'No usage.' : [table(head, rows), ...sum].join('\n'),
    ...(page.next === null ? {} : { note: `More groups: --cursor ${page.next}` }),
  }
}

/** The sums of all tag values or users as CSV. */
export async function usageGroupsCsv(ask: Ask, filters: Grouped): Promise<Outcome> {
  const first = await ask<GroupsReply>({
    method: 'GET',
    path: withQuery('usage', { ...filters, limit: PAGE_ROWS }),
  })
  return { value: undefined, text: '', chunks: groupChunks(ask, filters, first) }
}

const groupColumns = [
  'charges',
  'input_tokens',
  'output_tokens',
  'images',
  'seconds',
  'cost_usd',
  'refunded_usd',
  'compensated_usd',
  'provider_cost_usd',
  'margin_usd',
  'charges_without_cost',
] as const satisfies readonly (keyof GroupRow)[]

async function* groupChunks(ask: Ask, filters: Grouped, first: GroupsReply): AsyncGenerator<string> {
  yield csvLine([filters.group_by, ...groupColumns])
  for await (const rows of pagesFrom(ask, filters, first))
    yield rows.map(row => csvLine([row.value, ...groupColumns.map(name => row[name])])).join('')
}

/**
 * All charged requests, jobs and refunds as CSV, newest first. It reads page by page, so that the output can be long.
 */
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
  const path = withQuery('usage', { ...filters, limit: PAGE_ROWS })
  yield* pagesFrom(ask, filters, first ?? (await ask<UsageReply>({ method: 'GET', path })))
}

type PageOf<Row> = { readonly data: readonly Row[]; readonly next: string | null }

/** The rows of a page and of all pages after it. */
async function* pagesFrom<Row>(
  ask: Ask,
  filters: UsageFilters,
  first: PageOf<Row>,
): AsyncGenerator<readonly Row[]> {
  for (let page = first; ;) {
    yield page.data
    if (page.next === null) return
    const query = { ...filters, limit: PAGE_ROWS, cursor: page.next }
    page = await ask<PageOf<Row>>({ method: 'GET', path: withQuery('usage', query) })
  }
}

type ValueOf = (row: UsageRow) => string | number | boolean | null | undefined

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
  ['tags', tagsText],
  ['user', row => row.user],
  ['project', row => row.project],
]

function chargeOf(row: UsageRow): ChargeRow | undefined {
  return row.object === 'usage' ? row : undefined
}

/** The heads of the columns of `attributionCells`. */
export function attributionHead(rows: readonly Attributed[]): readonly string[] {
  return hasAttribution(rows) ? ['TAGS', 'USER'] : []
}

/** The tags and the user of one of these rows. There are no columns for them if no row has any. */
export function attributionCells(row: Attributed, rows: readonly Attributed[]): readonly string[] {
  return hasAttribution(rows) ? [tagsText(row), row.user ?? ''] : []
}

function hasAttribution(rows: readonly Attributed[]): boolean {
  return rows.some(({ tags, user }) => (tags ?? user) !== undefined)
}

/** `team=red,feature=search`, as in the header. */
export function tagsText({ tags = {} }: Attributed): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

/**
 * One line as in RFC 4180. A missing value is empty. Operators choose the names of accounts, and clients their tags and
 * users. A spreadsheet would run one that begins like a formula, so it gets an apostrophe. Negative numbers do not.
 */
export function csvLine(values: readonly (string | number | boolean | null | undefined)[]): string {
  const cells = values.map(value => {
    const text = textOfCell(String(value ?? ''))
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${cells.join(',')}\r\n`
}

function textOfCell(text: string): string {
  return /^[=+\-@\t]/.test(text) && !/^-\d+(\.\d+)?$/.test(text) ? `'${text}` : text
}

function measureOf(row: UsageRow): string {
  if (row.object === 'refund') return `refund of ${row.charge}`
  const { usage } = row
  if (usage['images'] !== undefined) return `${usage['images']} images`
  if (usage['seconds'] !== undefined) return `${usage['seconds']} s`
  return `${usage['input_tokens']} + ${usage['output_tokens']} tokens`
}
