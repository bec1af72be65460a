import { middle, spread, table, withRange, type Spread } from '../report.ts'
import type { StreamSample } from './compare-streams.ts'
import type { OpenStreams } from './open-streams.ts'

/** The medians and ranges of one peer. */
export type StreamRow = {
  readonly workload: string
  readonly peer: StreamSample['peer']
  readonly cpuUsPerChunk: Spread
  /** The peer's CPU time divided by the bare relay's in the same round. Absent without a relay. */
  readonly cpuToRelay?: Spread
  readonly chunksPerSecond: Spread
  readonly readsPerChunk: Spread
  readonly firstTokenP50Ms: Spread
  /** The time above `direct` in the same round. Absent without `direct`. */
  readonly addedP50Ms?: Spread
  readonly addedP99Ms?: Spread
  readonly rssMb: Spread
}

/** One row per kind of stream and peer, in the order of the first measurement. */
export function summarizeStreams(samples: readonly StreamSample[]): StreamRow[] {
  const groups = Map.groupBy(samples, ({ workload, peer }) => `${workload} ${peer}`)
  return [...groups.values()].map(own => {
    const { workload } = own[0]!
    return rowOf(own, groups.get(`${workload} relay`), groups.get(`${workload} direct`))
  })
}

export function streamTable(rows: readonly StreamRow[]): string {
  return table(
    [
      'stream',
      'peer',
      'CPU µs/chunk',
      '× relay',
      'chunks/s',
      'reads/chunk',
      'first token p50 ms',
      'added p50 ms',
      'added p99 ms',
      'RSS MB',
    ],
    rows.map(row => [
      row.workload,
      row.peer,
      withRange(row.cpuUsPerChunk, 1),
      withRange(row.cpuToRelay, 2),
      middle(row.chunksPerSecond, 0),
      middle(row.readsPerChunk, 2),
      middle(row.firstTokenP50Ms, 2),
      middle(row.addedP50Ms, 2),
      middle(row.addedP99Ms, 2),
      middle(row.rssMb, 0),
    ]),
  )
}

export function openStreamsTable(measured: readonly OpenStreams[]): string {
  return table(
    ['peer', 'streams', 'open', 'RSS before MB', 'RSS MB', 'KB/stream', 'MB/s at the end'],
    measured.map(one => [
      one.peer,
      one.kind,
      String(one.streams),
      one.rssBeforeMb.toFixed(0),
      one.rssMaxMb.toFixed(0),
      one.kbPerStream.toFixed(1),
      one.mbPerSecond.toFixed(2),
    ]),
  )
}

/** Each list has one sample per round, in the same order. */
function rowOf(
  own: readonly StreamSample[],
  relay: readonly StreamSample[] | undefined,
  direct: readonly StreamSample[] | undefined,
): StreamRow {
  const of = (pick: (sample: StreamSample, round: number) => number) => spread(own.map(pick))
  const { workload, peer } = own[0]!
  return {
    workload,
    peer,
    cpuUsPerChunk: of(sample => sample.cpuUsPerChunk),
    ...(relay && {
      cpuToRelay: of((sample, round) => sample.cpuUsPerChunk / relay[round]!.cpuUsPerChunk),
    }),
    chunksPerSecond: of(sample => sample.chunksPerSecond),
    readsPerChunk: of(sample => sample.readsPerChunk),
    firstTokenP50Ms: of(sample => sample.firstTokenP50Ms),
    ...(direct && {
      addedP50Ms: of((sample, round) => sample.firstTokenP50Ms - direct[round]!.firstTokenP50Ms),
      addedP99Ms: of((sample, round) => sample.firstTokenP99Ms - direct[round]!.firstTokenP99Ms),
    }),
    rssMb: of(sample => sample.rssMb),
  }
}
