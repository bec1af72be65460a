/** What customers paid, what it cost, and what is left, by model, provider, account, key, project or day. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { betweenDays } from '../../api/utc-days.ts'
import { Chart } from '../../parts/chart.tsx'
import { Figure, Figures } from '../../parts/facts.tsx'
import { ChoiceFilter, cursorOf, DayFilter, Filters, SearchFilter, useQuery } from '../../parts/filters.tsx'
import { count, money, moneyToCents, nanosOf, percent } from '../../parts/format.ts'
import { Empty, Loaded, Note } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager, Table, type Column } from '../../parts/table.tsx'
import { texts } from '../../texts.ts'
import { groupLabel, groups, shareOf, type Group, type Margin } from './read-margins.ts'

const words = texts.margins

export function Margins() {
  const [query] = useQuery()
  const by = groups.find(group => group === query['by']) ?? 'model'
  const asked = {
    by,
    ...betweenDays(query['from'], query['to']),
    ...(query['account'] !== undefined && { account: query['account'] }),
    ...cursorOf(query),
  }
  const report = useResource(JSON.stringify(asked), () =>
    answer(api.GET('/admin/api/margins', { params: { query: asked } })),
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Filters>
        <ChoiceFilter
          name="by"
          label={words.by}
          choices={groups.map(group => ({ value: group, label: words.groups[group] }))}
        />
        <DayFilter name="from" label={words.from} />
        <DayFilter name="to" label={words.to} />
        <SearchFilter name="account" label={words.account} />
      </Filters>
      <Loaded of={report}>
        {({ data, next, totals }) =>
          data.length === 0 ? (
            <Empty title={words.empty} text={words.emptyText} />
          ) : (
            <div class="stack">
              {totals !== undefined && <Totals of={totals} />}
              <Chart
                title={words.chart}
                by={words.groups[by]}
                labels={data.map(margin => groupLabel(by, margin))}
                series={[
                  { label: words.revenue, values: data.map(margin => margin.revenue_usd) },
                  { label: words.margin, values: data.map(margin => margin.margin_usd) },
                ]}
                show={money}
                kind={by === 'day' ? 'bars' : 'rows'}
              />
              <div>
                <Table
                  label={words.title}
                  rows={data}
                  columns={columnsOf(by)}
                  keyOf={margin => margin[by] ?? ''}
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

type Sums = Omit<Margin, Group>

function Totals({ of: sums }: { readonly of: Sums }) {
  return (
    <>
      <Figures>
        <Figure
          label={words.revenue}
          value={money(sums.revenue_usd)}
          note={words.charges(count(sums.charges))}
        />
        <Figure label={words.cost} value={money(sums.provider_cost_usd)} />
        <Figure label={words.losses} value={money(sums.losses_usd)} />
        <Figure label={words.margin} value={money(sums.margin_usd)} note={percent(shareOf(sums))} />
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
    show: margin => <span title={money(of(margin))}>{moneyToCents(of(margin))}</span>,
    sortBy: margin => nanosOf(of(margin)),
  })
  return [
    {
      label: words.groups[by],
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
