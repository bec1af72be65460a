/** The eight charts of the business, over the days that the address chooses. */
import { answer, api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { daysIn, lastDays, type Range } from '../../api/days.ts'
import { Chart } from '../../parts/chart.tsx'
import { ChoiceFilter, Filters, useQuery } from '../../parts/filters.tsx'
import { count, money } from '../../parts/format.ts'
import { Loaded, Note } from '../../parts/notes.tsx'
import { chartsTexts } from '../../parts/texts.ts'
import { readDayMargins, readTopMargins, type Margin } from '../margins/read-margins.ts'
import { SandboxShare } from '../margins/sandbox-share.tsx'
import { SpendChart } from '../margins/spend-chart.tsx'
import { Latency } from './latency.tsx'

const words = chartsTexts

/** Counts of requests are kept for 92 days. */
const SPANS = ['7', '90'] as const
const STANDARD_SPAN = '30'

type OpenJobs = components['schemas']['Overview']['open_jobs']

/** `turn` is another number each time that the user reloads the page. */
export function Charts({ openJobs, turn }: { readonly openJobs: OpenJobs; readonly turn: number }) {
  const [query] = useQuery()
  const span = SPANS.find(span => span === query['days']) ?? STANDARD_SPAN
  const range = lastDays(Number(span))
  return (
    <section class="stack" aria-label={words.title}>
      <header class="section-head">
        <h2>{words.title}</h2>
        <Filters>
          <ChoiceFilter
            name="days"
            label={words.span}
            choices={SPANS.map(value => ({ value, label: words.spans(value) }))}
            otherwise={words.spans(STANDARD_SPAN)}
          />
        </Filters>
      </header>
      <SandboxShare range={range} />
      <MoneyCharts range={range} turn={turn} />
      <RequestCharts range={range} turn={turn} openJobs={openJobs} />
    </section>
  )
}

type Shown = { readonly range: Range; readonly turn: number }

function MoneyCharts({ range, turn }: Shown) {
  const margins = useResource(
    `${range.from} ${range.to} ${turn}`,
    () =>
      Promise.all([readDayMargins(range), readTopMargins('model', range), readTopMargins('account', range)]),
    { subject: 'margins' },
  )
  return (
    <Loaded of={margins}>
      {([byDay, byModel, byAccount]) => (
        <>
          <RevenueByDay range={range} margins={byDay} />
          <div class="grid">
            <SpendChart title={words.spendByModel} by="model" margins={byModel} />
            <SpendChart title={words.spendByAccount} by="account" margins={byAccount} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function RevenueByDay({ range, margins }: { readonly range: Range; readonly margins: readonly Margin[] }) {
  const found = new Map(margins.map(margin => [margin.day, margin]))
  const days = daysIn(range)
  return (
    <Chart
      title={words.revenueByDay}
      by={words.day}
      labels={days}
      series={[
        { label: words.revenue, values: days.map(day => found.get(day)?.revenue_usd ?? '0') },
        { label: words.margin, values: days.map(day => found.get(day)?.margin_usd ?? '0') },
      ]}
      show={money}
      kind="bars"
    />
  )
}

function readReport(by: 'day' | 'status' | 'provider', range: Range) {
  return answer(
    api.GET('/admin/api/requests/report', { params: { query: { by, ...range, limit: GROUPS_MAX } } }),
  )
}

const GROUPS_MAX = 200

type RequestGroup = components['schemas']['RequestGroup']
type Tokens = RequestGroup['tokens']

function RequestCharts({ range, turn, openJobs }: Shown & { readonly openJobs: OpenJobs }) {
  const reports = useResource(
    `${range.from} ${range.to} ${turn}`,
    () => Promise.all([readReport('day', range), readReport('status', range), readReport('provider', range)]),
    { subject: 'requests' },
  )
  return (
    <Loaded of={reports}>
      {([byDay, byStatus, byProvider]) => (
        <>
          {!byDay.is_on && <Note>{words.notRecorded}</Note>}
          <Latency range={range} turn={turn} byDay={byDay.data} />
          <div class="grid">
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
      showRow={([errors = '', calls = '']) => words.errorsOfCalls(errors, calls)}
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
