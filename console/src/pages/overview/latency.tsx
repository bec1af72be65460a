/** How long requests took, by day or by hour. Hours show when something was slow. */
import { answer, api } from '../../api/client.ts'
import { daysIn, type Range } from '../../api/days.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { Chart } from '../../parts/chart.tsx'
import { useQuery } from '../../parts/filters.tsx'
import { milliseconds } from '../../parts/format.ts'
import { Loaded } from '../../parts/notes.tsx'
import { chartsTexts } from '../../parts/texts.ts'

const words = chartsTexts

type RequestGroup = components['schemas']['RequestGroup']
type Shown = { readonly range: Range; readonly turn: number; readonly byDay: readonly RequestGroup[] }

export function Latency({ range, turn, byDay }: Shown) {
  const [query] = useQuery()
  return query['latency'] === 'hour' ? (
    <ByHour range={range} turn={turn} />
  ) : (
    <LatencyChart by="day" labels={daysIn(range)} groups={new Map(byDay.map(group => [group.day, group]))} />
  )
}

function ByHour({ range, turn }: Omit<Shown, 'byDay'>) {
  const report = useResource(
    `${range.from} ${range.to} ${turn}`,
    () => answer(api.GET('/admin/api/requests/report', { params: { query: { by: 'hour', ...range } } })),
    { subject: 'hours' },
  )
  return (
    <Loaded of={report}>
      {({ data }) => (
        <LatencyChart
          by="hour"
          labels={daysIn(range).flatMap(hoursOf).filter(isOver)}
          groups={new Map(data.map(group => [hourOf(group.hour ?? ''), group]))}
        />
      )}
    </Loaded>
  )
}

const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`)

/** `2026-11-23 14:00`, and so on. */
function hoursOf(day: string): readonly string[] {
  return HOURS.map(hour => `${day} ${hour}`)
}

function hourOf(iso: string): string {
  return iso.slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')
}

/** The hours of today that are still to come have no requests. */
function isOver(hour: string): boolean {
  return hour <= hourOf(new Date().toISOString())
}

const times = ['duration_p50_ms', 'duration_p99_ms', 'first_byte_p50_ms', 'first_byte_p99_ms'] as const

function LatencyChart({
  by,
  labels,
  groups,
}: {
  readonly by: 'day' | 'hour'
  readonly labels: readonly string[]
  readonly groups: ReadonlyMap<string | undefined, RequestGroup>
}) {
  const series = times.map(name => ({
    label: words.times[name],
    values: labels.map(label => groups.get(label)?.[name] ?? null),
  }))
  return (
    <Chart
      title={words.latency}
      by={words[by]}
      labels={labels}
      series={series}
      show={value => milliseconds(Number(value))}
      kind="lines"
      controls={<GrainSwitch />}
    />
  )
}

function GrainSwitch() {
  const [query, change] = useQuery()
  return (
    <select
      class="input small"
      aria-label={words.latencyBy}
      onChange={event => change({ latency: event.currentTarget.value })}
    >
      <option value="">{words.byDay}</option>
      <option value="hour" selected={query['latency'] === 'hour'}>
        {words.byHour}
      </option>
    </select>
  )
}
