/** The charges and refunds of some days. They are all read, so that they can be searched, sorted and added up here. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { answer, api } from '../../api/client.ts'
import { recentListRange } from '../../api/days.ts'
import { LINES_A_PAGE, readEveryPage, type ListPage, type WholeList } from '../../api/every-page.ts'
import { useResource, type Resource } from '../../api/resource.ts'
import { AccountFilter } from '../../parts/account-search.tsx'
import { csvOfRows, download } from '../../parts/csv.ts'
import { DayFilter } from '../../parts/day-filter.tsx'
import { Badge, Figure, Figures, Money } from '../../parts/facts.tsx'
import { ChoiceFilter, Filters, NoRows, SearchFilter, useQuery, type Query } from '../../parts/filters.tsx'
import { amountOf, count, exactInstant, money, zoned } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { accountColumn } from '../../parts/subject.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { usageTexts } from './texts.ts'
import { partsTexts } from '../../parts/texts.ts'
import { UsageTabs } from './losses.tsx'
import {
  lineOf,
  matching,
  providerCostOf,
  savedColumns,
  type UsageLine,
  type UsageRow,
} from './usage-line.ts'

const words = usageTexts

/** Read when the page opens. */
const LINES_AT_FIRST = 2000
/** Read when the user asks for all. More is for a script. */
const LINES_MAX = 100_000
const DAYS_AT_FIRST = 7

const filterNames = ['account', 'search', 'kind', 'from', 'to']

const columns: readonly Column<UsageLine>[] = [
  {
    label: zoned(words.time),
    show: ({ row }) => (
      <a href={`requests/${row.object === 'refund' ? row.charge : row.id}`} title={row.id}>
        <time dateTime={row.created_at}>{exactInstant(row.created_at)}</time>
      </a>
    ),
    sortBy: ({ atMs }) => atMs,
  },
  { ...accountColumn(words.account, ({ row }) => row), sortBy: ({ row }) => row.account_name ?? '' },
  { label: words.model, show: ({ row }) => row.model, sortBy: ({ row }) => row.model },
  { label: words.provider, show: ({ row }) => row.provider, sortBy: ({ row }) => row.provider },
  {
    label: words.quantity,
    show: ({ row, quantity }) =>
      row.object === 'refund' ? (
        <>
          <Badge tone="accent">{words.refund}</Badge> <span class="soft">{quantity}</span>
        </>
      ) : (
        quantity
      ),
  },
  {
    label: words.cost,
    show: ({ row }) => <Money of={row.cost_usd} />,
    sortBy: ({ cost }) => sortKey(cost),
    isNumber: true,
  },
  {
    label: words.providerCost,
    show: ({ row }) => <Money of={providerCostOf(row)} />,
    sortBy: ({ providerCost }) => sortKey(providerCost),
    isNumber: true,
  },
]

/** Small integers are compared much faster than large ones. Both are exact. */
function sortKey(nanos: bigint): number | bigint {
  const small = Number(nanos)
  return Number.isSafeInteger(small) ? small : nanos
}

export function Usage() {
  const [query, change] = useQuery()
  const isAll = query['all'] === 'true'
  const { lines, read } = useLines(query, isAll ? LINES_MAX : LINES_AT_FIRST)
  return (
    <>
      <PageHead title={words.title} lead={words.lead(DAYS_AT_FIRST)} />
      <UsageTabs current="usage" />
      <Filters>
        <SearchFilter label={words.search} />
        <AccountFilter label={words.account} />
        <ChoiceFilter
          name="kind"
          label={words.kind}
          choices={(['usage', 'refund'] as const).map(value => ({ value, label: words.kinds[value] }))}
        />
        <DayFilter name="from" label={words.from} zone="browser" />
        <DayFilter name="to" label={words.to} zone="browser" />
      </Filters>
      {lines.isLoading && read > 0 && <p role="status">{words.reading(count(read))}</p>}
      <Loaded of={lines}>
        {({ rows, isCut }) => (
          <div class="stack">
            {isCut && (
              <Note tone="warn">
                <div class="row">
                  {words.cut(count(rows.length))}
                  {!isAll && (
                    <button type="button" class="button small" onClick={() => change({ all: 'true' })}>
                      {words.readAll(count(LINES_MAX))}
                    </button>
                  )}
                </div>
              </Note>
            )}
            <Lines lines={rows} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Reads the lines of the account and the days of the address. Another choice ends the reading before. */
function useLines(
  query: Query,
  rowsMax: number,
): { readonly lines: Resource<WholeList<UsageLine>>; readonly read: number } {
  const [read, setRead] = useState(0)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const { account } = query
  const asked = { ...(account !== undefined && { account }), ...recentListRange(query, DAYS_AT_FIRST) }
  const lines = useResource(JSON.stringify([asked, rowsMax]), async () => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    setRead(0)
    const page = (cursor: { readonly cursor?: string }) =>
      answer(
        api.GET('/admin/api/usage', { params: { query: { ...asked, ...cursor, limit: LINES_A_PAGE } } }),
      ) as Promise<ListPage<UsageRow>>
    const { rows, isCut } = await readEveryPage(page, { rowsMax, signal, onRows: setRead })
    return { rows: rows.map(lineOf), isCut }
  })
  return { lines, read }
}

function Lines({ lines }: { readonly lines: readonly UsageLine[] }) {
  const [{ search, kind }] = useQuery()
  const shown = useMemo(
    () => matching(lines, { ...(search !== undefined && { search }), ...(kind !== undefined && { kind }) }),
    [lines, search, kind],
  )
  const sums = useMemo(() => sumsOf(shown), [shown])
  if (shown.length === 0)
    return (
      <NoRows names={filterNames}>
        <Empty title={words.empty} text={words.emptyText} />
      </NoRows>
    )
  return (
    <>
      <Figures>
        <Figure label={words.lines} value={count(shown.length)} />
        <Figure label={words.cost} value={money(amountOf(sums.cost))} />
        <Figure
          label={words.providerCost}
          value={money(amountOf(sums.providerCost))}
          note={sums.unknown === 0 ? undefined : words.unknownCosts(count(sums.unknown))}
        />
      </Figures>
      <Table label={words.title} rows={shown} columns={columns} keyOf={({ row }) => row.id} />
      <div class="row">
        <button
          type="button"
          class="button small"
          onClick={() => download('charges.csv', csvOfRows(shown, savedColumns))}
        >
          <Icon name="download" />
          {partsTexts.csv}
        </button>
      </div>
    </>
  )
}

function sumsOf(lines: readonly UsageLine[]) {
  let [cost, providerCost, unknown] = [0n, 0n, 0]
  for (const line of lines) {
    cost += line.cost
    providerCost += line.providerCost
    if (line.row.object === 'usage' && line.row.provider_cost_usd === null) unknown += 1
  }
  return { cost, providerCost, unknown }
}
