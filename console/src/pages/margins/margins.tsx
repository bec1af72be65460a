/** What customers paid, what it cost, and what is left, by model, provider, account, key, project or day. */
import { DAYS_MAX, daysIn, isDay, reportRange, thisMonth } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import { AccountFilter } from '../../parts/account-search.tsx'
import { Chart } from '../../parts/chart.tsx'
import { DayFilter } from '../../parts/day-filter.tsx'
import { Cents, Figure, Figures } from '../../parts/facts.tsx'
import {
  ChoiceFilter,
  chosen,
  cursorOf,
  Filters,
  NoRows,
  useQuery,
  type Query,
} from '../../parts/filters.tsx'
import { count, money, nanosOf, percent } from '../../parts/format.ts'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { marginsTexts } from './texts.ts'
import { chartsTexts } from '../../parts/texts.ts'
import { askMargins, groupLabel, groups, shareOf, type Group, type Margin } from './read-margins.ts'
import { SandboxShare } from './sandbox-share.tsx'

const words = marginsTexts

const ROWS = 50
const DAYS = 30

export function Margins() {
  const [query] = useQuery()
  const by = groups.find(group => group === query['by']) ?? 'model'
  const { isCut, ...range } = rangeOf(query)
  const asked = {
    by,
    ...range,
    ...chosen(query, ['account']),
    ...cursorOf(query),
    // All days of a report are on one page.
    limit: by === 'day' ? DAYS_MAX : ROWS,
  }
  const report = useResource(JSON.stringify(asked), () => askMargins(asked), { subject: `margins by ${by}` })
  const isWhole = query['cursor'] === undefined
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <MarginFilters days={daysIn(range)} />
      {isCut && <Note tone="warn">{words.cut(DAYS_MAX)}</Note>}
      <Loaded of={report}>
        {({ data, next, totals }) =>
          data.length === 0 ? (
            <NoRows names={['account', 'from', 'to']}>
              <Empty title={words.empty} text={words.emptyText} />
            </NoRows>
          ) : (
            <div class="stack">
              {totals !== undefined && <Totals of={totals} />}
              <SandboxShare range={range} {...chosen(query, ['account'])} />
              {isWhole && <MarginChart by={by} margins={data} days={daysIn(range)} />}
              <div>
                <Table
                  label={words.title}
                  rows={data}
                  columns={columnsOf(by)}
                  keyOf={margin => margin[by] ?? ''}
                  isPart={!isWhole || next !== null}
                />
                <Pager next={next} shown={data.length} />
              </div>
            </div>
          )
        }
      </Loaded>
    </>
  )
}

/** Without days, the current month. */
function rangeOf(query: Query) {
  if (isDay(query['from']) || isDay(query['to'])) return reportRange(query, DAYS)
  return { ...thisMonth(), isCut: false }
}

function MarginFilters({ days }: { readonly days: readonly string[] }) {
  return (
    <Filters>
      <ChoiceFilter
        name="by"
        label={words.by}
        choices={groups.slice(1).map(group => ({ value: group, label: words.groups[group] }))}
        otherwise={words.groups[groups[0]]}
      />
      <DayFilter name="from" label={words.from} zone="UTC" otherwise={days.at(0)} />
      <DayFilter name="to" label={words.to} zone="UTC" otherwise={days.at(-1)} />
      <AccountFilter label={words.account} />
    </Filters>
  )
}

/** The groups with the most revenue, or each day of the report. */
function MarginChart({
  by,
  margins,
  days,
}: {
  readonly by: Group
  readonly margins: readonly Margin[]
  readonly days: readonly string[]
}) {
  const found = new Map(margins.map(margin => [margin.day, margin]))
  const shown = by === 'day' ? days.map(day => found.get(day)) : margins
  return (
    <Chart
      title={words.chart}
      by={by === 'day' ? chartsTexts.day : words.groups[by]}
      labels={by === 'day' ? days : margins.map(margin => groupLabel(by, margin))}
      series={[
        { label: words.revenue, values: shown.map(margin => margin?.revenue_usd ?? '0') },
        { label: words.margin, values: shown.map(margin => margin?.margin_usd ?? '0') },
      ]}
      show={money}
      kind={by === 'day' ? 'bars' : 'rows'}
    />
  )
}

type Sums = Omit<Margin, Group>

function Totals({ of: sums }: { readonly of: Sums }) {
  return (
    <>
      <Figures>
        <Figure
          label={words.revenue}
          value={<Cents of={sums.revenue_usd} />}
          note={words.charges(count(sums.charges))}
        />
        <Figure label={words.cost} value={<Cents of={sums.provider_cost_usd} />} />
        <Figure label={words.losses} value={<Cents of={sums.losses_usd} />} />
        <Figure label={words.margin} value={<Cents of={sums.margin_usd} />} note={percent(shareOf(sums))} />
      </Figures>
      {sums.charges_without_cost > 0 && (
        <Note tone="warn">{words.withoutCost(count(sums.charges_without_cost))}</Note>
      )}
    </>
  )
}

function columnsOf(by: Group): readonly Column<Margin>[] {
  const amount = (label: string, of: (margin: Margin) => string): Column<Margin> => ({
    label,
    isNumber: true,
    show: margin => <Cents of={of(margin)} />,
    sortBy: margin => nanosOf(of(margin)),
  })
  return [
    {
      label: by === 'day' ? chartsTexts.day : words.groups[by],
      show: margin => <GroupName by={by} margin={margin} />,
      sortBy: margin => groupLabel(by, margin),
    },
    { label: words.chargeCount, isNumber: true, show: row => count(row.charges), sortBy: row => row.charges },
    amount(words.revenue, row => row.revenue_usd),
    amount(words.cost, row => row.provider_cost_usd),
    amount(words.losses, row => row.losses_usd),
    amount(words.margin, row => row.margin_usd),
    {
      label: words.share,
      isNumber: true,
      show: row => percent(shareOf(row)),
      sortBy: row => shareOf(row) ?? -Infinity,
    },
  ]
}

function GroupName({ by, margin }: { readonly by: Group; readonly margin: Margin }) {
  const label = groupLabel(by, margin)
  return by === 'account' && margin.account ? (
    <a href={`accounts/${margin.account}`}>{label}</a>
  ) : (
    <>{label}</>
  )
}
