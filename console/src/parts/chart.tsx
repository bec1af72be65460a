/**
 * Charts: bars and lines of values over time or by name. Each has its data as a table, and as a CSV file. Values stay
 * text; only the height of a bar or line is a float.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { partsTexts } from './texts.ts'
import { Plot } from './chart-plot.tsx'
import { heightOf, seriesClass, shown, type Drawn, type Series } from './chart-values.ts'
import { csvText, download } from './csv.ts'
import { messageOf } from './form.tsx'
import { useLongLines } from './long-lines.ts'
import { Icon } from './icon.tsx'
import { Table } from './table.tsx'
import { toast } from './toast.tsx'

const words = partsTexts

type Values = Pick<Drawn, 'labels' | 'series'>

export type ChartProps = Drawn & {
  /** `rows` are horizontal bars, for long names. Only the first ones are drawn; the table has all. */
  readonly kind: 'bars' | 'lines' | 'rows'
  /** Reads all values, for the table and the file, if the chart has only the first ones. */
  readonly readAll?: (() => Promise<Values>) | undefined
  /** How the values of a row are shown. The default has each after the other. */
  readonly showRow?: (values: readonly string[]) => string
  /** Choices beside the title. */
  readonly controls?: ComponentChildren
}

/** From here on a chart is a canvas, which uPlot draws. It is loaded only then. */
const SVG_POINTS_MAX = 2000

export function Chart(props: ChartProps) {
  const { title, labels, series, kind, controls } = props
  const [isTable, setTable] = useState(false)
  const { values, read, isReading } = useAllValues(props)
  const points = labels.length * series.length
  return (
    <section class="card chart" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <div class="row">
          {controls}
          <button
            type="button"
            class="button small"
            aria-label={isTable ? words.chartOf(title) : words.tableOf(title)}
            disabled={isReading}
            onClick={() => void (isTable ? setTable(false) : read(() => setTable(true)))}
          >
            {isTable ? words.showChart : words.showTable}
          </button>
          <button
            type="button"
            class="button small"
            aria-label={words.csvOf(title)}
            disabled={isReading}
            onClick={() => void read(all => download(`${title}.csv`, csvOf({ ...props, ...all })))}
          >
            <Icon name="download" />
            {words.csv}
          </button>
        </div>
      </header>
      {isTable && labels.length > 0 ? (
        <DataTable {...props} {...values} />
      ) : (
        <Drawing {...props} kind={kind !== 'rows' && points > SVG_POINTS_MAX ? 'long' : kind} />
      )}
    </section>
  )
}

/** All values of a chart, which are read when they are needed. */
function useAllValues({ labels, series, readAll }: ChartProps) {
  const [all, setAll] = useState<{ readonly of: string; readonly values: Values }>()
  const [isReading, setReading] = useState(false)
  // Those of other days are read again.
  const drawn = JSON.stringify([labels, series])
  const values = readAll === undefined ? { labels, series } : all?.of === drawn ? all.values : undefined
  const read = async (use: (values: Values) => void) => {
    if (values !== undefined || readAll === undefined) return use(values ?? { labels, series })
    setReading(true)
    try {
      const found = await readAll()
      setAll({ of: drawn, values: found })
      use(found)
    } catch (error) {
      toast(messageOf(error as Error), 'bad')
    }
    setReading(false)
  }
  return { values: values ?? { labels, series }, read, isReading }
}

function Drawing({
  kind,
  ...chart
}: Omit<ChartProps, 'kind'> & { readonly kind: ChartProps['kind'] | 'long' }) {
  if (chart.labels.length === 0) return <p class="soft">{words.noValues}</p>
  return (
    <>
      {kind === 'long' && <LongLines {...chart} />}
      {kind === 'rows' && <Rows {...chart} />}
      {(kind === 'bars' || kind === 'lines') && <Plot {...chart} kind={kind} />}
      {chart.series.length > 1 && <Legend series={chart.series} />}
    </>
  )
}

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

/** So many horizontal bars are drawn. */
export const ROWS_DRAWN = 8

/** A horizontal bar for each label, with its value in words, so that nothing depends on the drawing. */
function Rows({ labels, series, show, readAll, showRow = inOneLine }: Omit<ChartProps, 'kind'>) {
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map(value => Math.abs(heightOf(value)))))
  const rest = labels.length - ROWS_DRAWN
  return (
    <>
      <ul class="bar-rows">
        {labels.slice(0, ROWS_DRAWN).map((label, index) => (
          <li key={label}>
            <span>{label}</span>
            <span class="number">{showRow(series.map(one => shown(one.values[index], show)))}</span>
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
      {readAll === undefined ? (
        rest > 0 && <p class="soft">{words.moreInTable(rest)}</p>
      ) : (
        <p class="soft">{words.allInTable}</p>
      )}
    </>
  )
}

function inOneLine(values: readonly string[]): string {
  return values.join(' · ')
}

function rowWidth(value: Series['values'][number] | undefined, most: number): number {
  return most === 0 ? 0 : (Math.abs(heightOf(value)) / most) * 100
}

function LongLines(chart: Drawn) {
  const { place, error } = useLongLines(chart)
  return (
    <>
      <div class="long-lines" ref={place} role="img" aria-label={chart.title} />
      {error !== undefined && <p class="soft">{error.message}</p>}
    </>
  )
}
