import { answer, api } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import type { UtcRange } from '../../api/utc-days.ts'
import { nanosOf, plotted } from '../../parts/format.ts'
import { texts } from '../../texts.ts'

export type Margin = components['schemas']['Margin']
export const groups = ['model', 'provider', 'account', 'key', 'project', 'day'] as const
export type Group = (typeof groups)[number]

/** The longest page that the gateway sends, and how many of them are read. */
const GROUPS_A_PAGE = 500
const PAGES_MAX = 20

/** All groups, beginning with the most revenue. */
export async function readMargins(by: Group, range: UtcRange): Promise<readonly Margin[]> {
  const found: Margin[] = []
  let cursor: string | null = ''
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const query = { by, ...range, limit: GROUPS_A_PAGE, ...(cursor !== '' && { cursor }) }
    const reply: { readonly data: readonly Margin[]; readonly next: string | null } = await answer(
      api.GET('/admin/api/margins', { params: { query } }),
    )
    found.push(...reply.data)
    cursor = reply.next
  }
  return found.toSorted((a, b) => Number(nanosOf(b.revenue_usd) - nanosOf(a.revenue_usd)))
}

/** How a group is called: by its name, else its id. */
export function groupLabel(by: Group, margin: Margin): string {
  const named = by === 'account' || by === 'key' || by === 'project' ? margin[`${by}_name`] : undefined
  const label = named ?? margin[by] ?? ''
  return label === '' ? texts.margins.without[by] : label
}

/** The margin as a part of the revenue. Only a percentage, which may be rounded. */
export function shareOf({
  revenue_usd,
  margin_usd,
}: Pick<Margin, 'revenue_usd' | 'margin_usd'>): number | null {
  return nanosOf(revenue_usd) === 0n ? null : plotted(margin_usd) / plotted(revenue_usd)
}
