/** The eight charts of the business, over the days that the address chooses. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { daysIn, lastDays, type UtcRange } from '../../api/utc-days.ts'
import { Chart } from '../../parts/chart.tsx'
import { ChoiceFilter, Filters, useQuery } from '../../parts/filters.tsx'
import { count, milliseconds, money } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { texts } from '../../texts.ts'
import { groupLabel, readMargins, type Margin } from '../margins/read-margins.ts'

const words = texts.charts

/** Counts of requests are kept for 92 days. */
const SPANS = ['7', '30', '90'] as const
const STANDARD_SPAN = '30'

type OpenJobs = components['schemas']['Overview']['open_jobs']

export function Charts({ openJobs }: { readonly openJobs: OpenJobs }) {
  const [query] = useQuery()
  const span = SPANS.find(span => span === query['days']) ?? STANDARD_SPAN
  const range = lastDays(Number(span))
  return (
    <section class="stack" aria-label={words.title}>
      <Filters>
        <ChoiceFilter
          name="days"
          label={words.span}
          choices={SPANS.map(value => ({ value, label: words.spans(value) }))}
        />
      </Filters>
      <MoneyCharts range={range} />
      <RequestCharts range={range} openJobs={openJobs} />
    </section>
  )
}

function MoneyCharts({ range }: { readonly range: UtcRange }) {
  const margins = useResource(`margins ${range.from} ${range.to}`, () =>
    Promise.all([readMargins('day', range), readMargins('model', range), readMargins('account', range)]),
  )
  return (
    <Loaded of={margins}>
      {([byDay, byModel, byAccount]) => (
        <>
          <SpendByDay range={range} margins={byDay} />
          <div class="grid">
            <Spend title={words.spendByModel} by="model" margins={byModel} />
            <Spend title={words.spendByAccount} by="account" margins={byAccount} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function SpendByDay({ range, margins }: { readonly range: UtcRange; readonly margins: readonly Margin[] }) {
  const found = new Map(margins.map(margin => [margin.day, margin]))
  const days = daysIn(range)
  return (
    <Chart
      title={words.spendByDay}
      by={words.day}
      labels={days}
      series={[
        { label: words.spend, values: days.map(day => found.get(day)?.revenue_usd ?? '0') },
        { label: words.margin, values: days.map(day => found.get(day)?.margin_usd ?? '0') },
      ]}
      show={money}
      kind="bars"
    />
  )
}

function Spend({
  title,
  by,
  margins,
}: {
  readonly title: string
  readonly by: 'model' | 'account'
  readonly margins: readonly Margin[]
}) {
  return (
    <Chart
      title={title}
      by={words[by]}
      labels={margins.map(margin => groupLabel(by, margin))}
      series={[{ label: words.spend, values: margins.map(margin => margin.revenue_usd) }]}
      show={money}
      kind="rows"
    />
  )
}

function readReport(by: 'day' | 'status' | 'provider', range: UtcRange) {
  return answer(
    api.GET('/admin/api/requests/report', { params: { query: { by, ...range, limit: GROUPS_MAX } } }),
  )
}

const GROUPS_MAX = 200

type RequestGroup = components['schemas']['RequestGroup']
type Tokens = RequestGroup['tokens']

function RequestCharts({ range, openJobs }: { readonly range: UtcRange; readonly openJobs: OpenJobs }) {
  const reports = useResource(`requests ${range.from} ${range.to}`, () =>
    Promise.all([readReport('day', range), readReport('status', range), readReport('provider', range)]),
  )
  return (
    <Loaded of={reports}>
      {([byDay, byStatus, byProvider]) => (
        <>
          {!byDay.is_on && <Note>{words.notRecorded}</Note>}
          <div class="grid">
            <Latency range={range} groups={byDay.data} />
            <CountRows
              title={words.requestsByStatus}
              by={words.status}
              rows={byStatus.data.map(({ status, requests }) => [String(status ?? ''), requests])}
              label={words.requests}
            />
            <ErrorsByProvider groups={byProvider.data} />
            <TokensByKind tokens={byDay.totals.tokens} />
            <CountRows
              title={words.openJobs}
              by={words.state}
              rows={jobStates.map(state => [words.jobStates[state], openJobs[state]])}
              label={words.jobs}
            />
          </div>
        </>
      )}
    </Loaded>
  )
}

const jobStates = ['queued', 'processing', 'unknown_submit'] as const

function show(value: string): string {
  return count(Number(value))
}

function CountRows({
  title,
  by,
  rows,
  label,
}: {
  readonly title: string
  readonly by: string
  readonly rows: readonly (readonly [label: string, count: number])[]
  readonly label: string
}) {
  return (
    <Chart
      title={title}
      by={by}
      labels={rows.map(([name]) => name)}
      series={[{ label, values: rows.map(([, value]) => value) }]}
      show={show}
      kind="rows"
    />
  )
}

function ErrorsByProvider({ groups }: { readonly groups: readonly RequestGroup[] }) {
  const sorted = groups.toSorted((a, b) => b.errors - a.errors)
  return (
    <Chart
      title={words.errorsByProvider}
      by={words.provider}
      labels={sorted.map(({ provider }) => provider ?? '')}
      series={[
        { label: words.errors, values: sorted.map(({ errors }) => errors) },
        { label: words.calls, values: sorted.map(({ requests }) => requests) },
      ]}
      show={show}
      kind="rows"
    />
  )
}

function TokensByKind({ tokens }: { readonly tokens: Tokens }) {
  const kinds = Object.keys(words.tokenKinds) as (keyof Tokens)[]
  const rows = kinds.map(kind => [words.tokenKinds[kind], tokens[kind] ?? 0] as const)
  return (
    <CountRows
      title={words.tokensByKind}
      by={words.kind}
      rows={rows.filter(([, tokens]) => tokens > 0)}
      label={words.tokens}
    />
  )
}

function Latency({ range, groups }: { readonly range: UtcRange; readonly groups: readonly RequestGroup[] }) {
  const found = new Map(groups.map(group => [group.day, group]))
  const days = daysIn(range)
  const series = (
    ['duration_p50_ms', 'duration_p99_ms', 'first_byte_p50_ms', 'first_byte_p99_ms'] as const
  ).map(name => ({ label: words.times[name], values: days.map(day => found.get(day)?.[name] ?? null) }))
  return (
    <Chart
      title={words.latency}
      by={words.day}
      labels={days}
      series={series}
      show={value => milliseconds(Number(value))}
      kind="lines"
    />
  )
}
