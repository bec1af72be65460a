/**
 * Charts: bars and lines of values over time or by name. Each has its data as a table, and as a CSV file. Values stay
 * text; only the height of a bar or line is a float.
 */
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { csvText, download } from './csv.ts'
import { useLongLines } from './long-lines.ts'
import { Icon } from './icon.tsx'
import { Table } from './table.tsx'

const { parts: words } = texts

export type Series = {
  readonly label: string
  /** One for each label of the chart. Null for none. */
  readonly values: readonly (string | number | null)[]
}

export type ChartProps = {
  readonly title: string
  /** What the labels are, such as "Day". */
  readonly by: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** How a value is shown, such as `money`. */
  readonly show: (value: string) => string
  /** `rows` are horizontal bars, for long names. Only the first ones are drawn; the table has all. */
  readonly kind: 'bars' | 'lines' | 'rows'
}

/** From here on a chart is a canvas, which uPlot draws. It is loaded only then. */
const SVG_POINTS_MAX = 2000

export function Chart(props: ChartProps) {
  const { title, labels, series, kind } = props
  const [isTable, setTable] = useState(false)
  const points = labels.length * series.length
  return (
    <section class="card chart" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <div class="row">
          <button
            type="button"
            class="button small"
            aria-label={isTable ? words.chartOf(title) : words.tableOf(title)}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? words.showChart : words.showTable}
          </button>
          <button
            type="button"
            class="button small"
            aria-label={words.csvOf(title)}
            onClick={() => download(`${title}.csv`, csvOf(props))}
          >
            <Icon name="download" />
            {words.csv}
          </button>
        </div>
      </header>
      <Content
        {...props}
        kind={kind !== 'rows' && points > SVG_POINTS_MAX ? 'long' : kind}
        isTable={isTable}
      />
    </section>
  )
}

function Content({
  isTable,
  kind,
  ...chart
}: Omit<ChartProps, 'kind'> & { readonly kind: ChartProps['kind'] | 'long'; readonly isTable: boolean }) {
  if (chart.labels.length === 0) return <p class="soft">{words.noValues}</p>
  if (isTable) return <DataTable {...chart} />
  return (
    <>
      {kind === 'long' && <LongLines {...chart} />}
      {kind === 'rows' && <Rows {...chart} />}
      {(kind === 'bars' || kind === 'lines') && <Plot {...chart} kind={kind} />}
      {chart.series.length > 1 && <Legend series={chart.series} />}
    </>
  )
}

type Drawn = Omit<ChartProps, 'kind'>

function DataTable({ title, by, labels, series, show }: Drawn) {
  const rows = labels.map((label, index) => ({ label, index }))
  const columns = series.map((one, at) => ({
    label: one.label,
    isNumber: true,
    show: ({ index }: { readonly index: number }) => shown(one.values[index], show),
    sortBy: ({ index }: { readonly index: number }) => heightOf(series[at]?.values[index]),
  }))
  return (
    <Table
      label={title}
      rows={rows}
      columns={[{ label: by, show: ({ label }) => label, sortBy: ({ index }) => index }, ...columns]}
      keyOf={({ index }) => String(index)}
    />
  )
}

function shown(value: string | number | null | undefined, show: (value: string) => string): string {
  return value === null || value === undefined ? '–' : show(String(value))
}

function heightOf(value: string | number | null | undefined): number {
  return value === null || value === undefined ? 0 : Number(value)
}

/** A chart as a CSV file, a line for each label. */
export function csvOf({ by, labels, series }: Pick<ChartProps, 'by' | 'labels' | 'series'>): string {
  return csvText([
    [by, ...series.map(({ label }) => label)],
    ...labels.map((label, index) => [label, ...series.map(({ values }) => String(values[index] ?? ''))]),
  ])
}

function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <ul class="legend">
      {series.map(({ label }, index) => (
        <li key={label}>
          <svg viewBox="0 0 10 10" class={seriesClass(index)} aria-hidden="true">
            <rect class="bar" width="10" height="10" rx="2" />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}

const SERIES_COLOURS = 6

function seriesClass(index: number): string {
  return `series-${index % SERIES_COLOURS}`
}

const ROWS_DRAWN = 8

/** A horizontal bar for each label, with its value in words, so that nothing depends on the drawing. */
function Rows({ labels, series, show }: Drawn) {
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map(value => Math.abs(heightOf(value)))))
  const rest = labels.length - ROWS_DRAWN
  return (
    <>
      <ul class="bar-rows">
        {labels.slice(0, ROWS_DRAWN).map((label, index) => (
          <li key={label}>
            <span>{label}</span>
            <span class="number">{series.map(one => shown(one.values[index], show)).join(' · ')}</span>
            {series.map((one, at) => (
              <svg
                key={one.label}
                class={seriesClass(at)}
                viewBox="0 0 100 6"
                preserveAspectRatio="none"
                aria-hidden="true"
              >
                <rect class="track" width="100" height="6" />
                <rect class="bar" width={rowWidth(one.values[index], most)} height="6" />
              </svg>
            ))}
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="soft">{words.moreInTable(rest)}</p>}
    </>
  )
}

function rowWidth(value: Series['values'][number] | undefined, most: number): number {
  return most === 0 ? 0 : (Math.abs(heightOf(value)) / most) * 100
}

/** The field of the drawing, in its own units; the browser scales it. */
const WIDTH = 640
const HEIGHT = 220
const LEFT = 64
const BOTTOM = 24
const TOP = 8
const TICKS = 4
const LABELS_MAX = 8
/** A single bar is not a wall. */
const BAR_WIDTH_MAX = 48

function Plot({ kind, ...chart }: Drawn & { readonly kind: 'bars' | 'lines' }) {
  const { title, labels, series, show } = chart
  const top = niceMax(Math.max(0, ...series.flatMap(({ values }) => values.map(heightOf))))
  const low = -niceMax(
    Math.max(0, ...series.flatMap(({ values }) => values.map(value => -heightOf(value)))),
    0,
  )
  const y = (value: number) => TOP + ((top - value) / (top - low)) * (HEIGHT - BOTTOM - TOP)
  const step = (WIDTH - LEFT) / labels.length
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => low + ((top - low) * index) / TICKS)
  const every = Math.ceil(labels.length / LABELS_MAX)
  const frame = { y, step }
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
      {ticks.map(tick => (
        <g key={tick}>
          <line class="rule" x1={LEFT} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
          <text class="axis" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
            {show(plainNumber(tick))}
          </text>
        </g>
      ))}
      {labels.map(
        (label, index) =>
          index % every === 0 && (
            <text
              key={label}
              class="axis"
              x={LEFT + step * (index + 0.5)}
              y={HEIGHT - 6}
              text-anchor="middle"
            >
              {label}
            </text>
          ),
      )}
      {kind === 'bars' ? <Bars {...chart} {...frame} /> : <Lines {...chart} {...frame} />}
    </svg>
  )
}

type FrameProps = { readonly y: (value: number) => number; readonly step: number }

function Bars({ labels, series, show, y, step }: Drawn & FrameProps) {
  const gap = Math.min(6, step * 0.2)
  const width = Math.min(BAR_WIDTH_MAX, (step - gap) / series.length)
  const left = LEFT + (step - width * series.length) / 2
  return (
    <>
      {series.map((one, at) => (
        <g key={one.label} class={seriesClass(at)}>
          {labels.map((label, index) => {
            const value = heightOf(one.values[index])
            const x = left + step * index + width * at
            return (
              <rect
                key={label}
                class="bar"
                x={x}
                width={Math.max(1, width - 1)}
                y={Math.min(y(value), y(0))}
                height={Math.abs(y(0) - y(value))}
                rx="1.5"
              >
                <title>{`${label}, ${one.label}: ${shown(one.values[index], show)}`}</title>
              </rect>
            )
          })}
        </g>
      ))}
    </>
  )
}

function Lines({ labels, series, show, y, step }: Drawn & FrameProps) {
  const x = (index: number) => LEFT + step * (index + 0.5)
  return (
    <>
      {series.map(({ label: name, values }, at) => (
        <g key={name} class={seriesClass(at)}>
          <path class="line" d={pathOf(values, x, y)} />
          {labels.map((label, index) => {
            const value = values[index]
            return (
              value !== null &&
              value !== undefined && (
                <circle key={label} class="bar" cx={x(index)} cy={y(heightOf(value))} r="2.5">
                  <title>{`${label}, ${name}: ${shown(value, show)}`}</title>
                </circle>
              )
            )
          })}
        </g>
      ))}
    </>
  )
}

/** A line with gaps where there is no value. */
function pathOf(
  values: Series['values'],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false
        return ''
      }
      const point = `${isDown ? 'L' : 'M'}${x(index).toFixed(1)} ${y(heightOf(value)).toFixed(1)}`
      isDown = true
      return point
    })
    .join('')
}

/** The next of 1, 2, 2.5, 4, 5 or 10 times a power of ten, so that the ticks are short numbers. */
export function niceMax(value: number, least = 1): number {
  if (value <= 0) return least
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 2.5, 4, 5, 10].find(factor => factor * power >= value) ?? 10
  return factor * power
}

/** Without an exponent and without the noise of floats. */
function plainNumber(value: number): string {
  return Number(value.toPrecision(12)).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 9 })
}

function LongLines(chart: Drawn) {
  const { place, error } = useLongLines(chart)
  return <div ref={place}>{error !== undefined && <p class="soft">{error.message}</p>}</div>
}
