import { answer, api } from '../../api/client.ts'
import type { Range } from '../../api/days.ts'
import { LINES_A_PAGE, readEveryPage } from '../../api/every-page.ts'
import type { components, operations } from '../../api/schema.d.ts'
import { ROWS_DRAWN } from '../../parts/chart.tsx'
import { nanosOf, plotted } from '../../parts/format.ts'
import { marginsTexts } from './texts.ts'

export type Margin = components['schemas']['Margin']
export const groups = ['model', 'provider', 'account', 'key', 'project', 'day'] as const
export type Group = (typeof groups)[number]

type Asked = NonNullable<NonNullable<operations['readMargins']['parameters']['query']>>

/** Days in their order, which are at most 92, and other groups with the most revenue first. */
export function askMargins(asked: Asked & { readonly by: Group }) {
  const sort = asked.by === 'day' ? {} : ({ sort: 'revenue' } as const)
  return answer(api.GET('/admin/api/margins', { params: { query: { ...asked, ...sort } } }))
}

/** Each day of a range with a charge. */
export async function readDayMargins(range: Range, account?: string): Promise<readonly Margin[]> {
  const only = account === undefined ? {} : { account }
  return (await askMargins({ by: 'day', ...only, ...dates(range), limit: LINES_A_PAGE })).data
}

export type TopMargins = {
  readonly data: readonly Margin[]
  /** Reads the others too. Undefined if there are none. */
  readonly readAll: (() => Promise<readonly Margin[]>) | undefined
}

/** More groups than these are better read by a script. */
const GROUPS_MAX = 10_000

/** The groups with the most revenue: as many as a chart draws. */
export async function readTopMargins(
  by: Exclude<Group, 'day'>,
  range: Range,
  account?: string,
): Promise<TopMargins> {
  const asked = { by, ...(account !== undefined && { account }), ...dates(range) }
  const { data, next } = await askMargins({ ...asked, limit: ROWS_DRAWN })
  const readAll = async () => {
    const read = (page: { readonly cursor?: string }) =>
      askMargins({ ...asked, ...page, limit: LINES_A_PAGE })
    return (await readEveryPage(read, { rowsMax: GROUPS_MAX })).rows
  }
  return { data, readAll: next === null ? undefined : readAll }
}

function dates({ from, to }: Range): Range {
  return { from, to }
}

/** How a group is called: by its name, else its id. */
export function groupLabel(by: Group, margin: Margin): string {
  const named = by === 'account' || by === 'key' || by === 'project' ? margin[`${by}_name`] : undefined
  const label = named ?? margin[by] ?? ''
  return label === '' ? marginsTexts.without[by] : label
}

/** The margin as a part of the revenue. Only a percentage, which may be rounded. */
export function shareOf({
  revenue_usd,
  margin_usd,
}: Pick<Margin, 'revenue_usd' | 'margin_usd'>): number | null {
  return nanosOf(revenue_usd) === 0n ? null : plotted(margin_usd) / plotted(revenue_usd)
}
