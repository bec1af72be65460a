import type { Sample } from './compare.ts'
import type { MemoryOverTime } from './memory.ts'
import { median } from './statistics.ts'

/** The medians and ranges of one peer with one load. */
export type Row = {
  readonly workload: string
  readonly connections: number
  readonly peer: Sample['peer']
  readonly cpuUsPerRequest: Spread
  /** The peer's CPU time divided by the bare relay's in the same round. Absent without a relay. */
  readonly cpuToRelay?: Spread
  readonly requestsPerSecond: Spread
  readonly p50Ms: Spread
  readonly p99Ms: Spread
  /** The latency above `direct` in the same round. Absent without `direct`. */
  readonly addedP50Ms?: Spread
  readonly addedP99Ms?: Spread
  readonly rssMb: Spread
  readonly loadCpuUsPerRequest: Spread
}

export type Spread = { readonly median: number; readonly min: number; readonly max: number }

/** One row per load and peer, in the order of the first measurement. */
export function summarize(samples: readonly Sample[]): Row[] {
  const groups = Map.groupBy(samples, sample => groupName(sample, sample.peer))
  return [...groups.values()].map(own =>
    rowOf(own, groups.get(groupName(own[0]!, 'relay')), groups.get(groupName(own[0]!, 'direct'))),
  )
}

/** The rows as a Markdown table: medians, with the minimum and maximum of all rounds in brackets. */
export function comparisonTable(rows: readonly Row[]): string {
  return table(
    [
      'request',
      'connections',
      'peer',
      'CPU µs/request',
      '× relay',
      'requests/s',
      'p50 ms',
      'added p50 ms',
      'p99 ms',
      'added p99 ms',
      'RSS MB',
    ],
    rows.map(row => [
      row.workload,
      String(row.connections),
      row.peer,
      withRange(row.cpuUsPerRequest, 1),
      withRange(row.cpuToRelay, 2),
      withRange(row.requestsPerSecond, 0),
      middle(row.p50Ms, 3),
      middle(row.addedP50Ms, 3),
      middle(row.p99Ms, 3),
      middle(row.addedP99Ms, 3),
      middle(row.rssMb, 0),
    ]),
  )
}

/** The memory of a process over time as a Markdown table, and its slope as a sentence. */
export function memoryTable({ peer, samples, mbPer100000Requests }: MemoryOverTime): string {
  const rows = samples.map(({ requests, rssMb }) => [String(requests), rssMb.toFixed(1)])
  const sign = mbPer100000Requests < 0 ? '' : '+'
  return `${table(['requests', `RSS of ${peer}, MB`], rows)}

Second half: ${sign}${mbPer100000Requests.toFixed(2)} MB per 100,000 requests.`
}

function groupName({ workload, connections }: Sample, peer: Sample['peer']): string {
  return `${workload} ${connections} ${peer}`
}

/** Each list has one sample per round, in the same order. */
function rowOf(
  own: readonly Sample[],
  relay: readonly Sample[] | undefined,
  direct: readonly Sample[] | undefined,
): Row {
  const { workload, connections, peer } = own[0]!
  return {
    workload,
    connections,
    peer,
    cpuUsPerRequest: spread(own.map(sample => sample.cpuUsPerRequest)),
    ...(relay && {
      cpuToRelay: spread(own.map((sample, round) => sample.cpuUsPerRequest / relay[round]!.cpuUsPerRequest)),
    }),
    requestsPerSecond: spread(own.map(sample => sample.requestsPerSecond)),
    p50Ms: spread(own.map(sample => sample.p50Ms)),
    p99Ms: spread(own.map(sample => sample.p99Ms)),
    ...(direct && {
      addedP50Ms: spread(own.map((sample, round) => sample.p50Ms - direct[round]!.p50Ms)),
      addedP99Ms: spread(own.map((sample, round) => sample.p99Ms - direct[round]!.p99Ms)),
    }),
    rssMb: spread(own.map(sample => sample.rssMb)),
    loadCpuUsPerRequest: spread(own.map(sample => sample.loadCpuUsPerRequest)),
  }
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

export function middle(values: Spread | undefined, decimals: number): string {
  return values === undefined ? '–' : values.median.toFixed(decimals)
}

export function withRange(values: Spread | undefined, decimals: number): string {
  if (values === undefined) return '–'
  return `${middle(values, decimals)} (${values.min.toFixed(decimals)}–${values.max.toFixed(decimals)})`
}

/** The columns with text. */
const NAMES: ReadonlySet<string> = new Set(['request', 'stream', 'streams', 'uploads', 'peer'])

/** A Markdown table that is padded for the terminal. Columns with numbers are right-aligned. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map(row => row[column]!.length)),
  )
  const isName = header.map(title => NAMES.has(title))
  const pad = (cell: string, column: number): string =>
    isName[column] ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`
  const dashes = widths.map(
    (width, column) => (isName[column] ? ':' : '-') + '-'.repeat(width) + (isName[column] ? '-' : ':'),
  )
  const rule = `|${dashes.join('|')}|`
  return [line(header), rule, ...rows.map(line)].join('\n')
}
