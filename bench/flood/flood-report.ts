import { spread, table, withRange } from '../report.ts'
import type { FloodSample } from './measure-flood.ts'

/** Medians over the rounds. The ratio is that of the p99 to the p99 of node:http in the same round. */
export function floodTable(samples: readonly FloodSample[]): string {
  const groups = Map.groupBy(samples, ({ uploads, peer }) => `${uploads} ${peer}`)
  return table(
    ['uploads', 'peer', 'p99 ms alone', 'p50 ms', 'p99 ms', '× node:http', 'MB/s'],
    [...groups.values()].map(own => {
      const { uploads, peer } = own[0]!
      const node = groups.get(`${uploads} node`)
      return [
        uploads,
        peer,
        withRange(spread(own.map(({ aloneP99Ms }) => aloneP99Ms)), 1),
        withRange(spread(own.map(({ p50Ms }) => p50Ms)), 0),
        withRange(spread(own.map(({ p99Ms }) => p99Ms)), 0),
        withRange(node && spread(own.map(({ p99Ms }, round) => p99Ms / node[round]!.p99Ms)), 2),
        withRange(spread(own.map(({ uploadedMbPerS }) => uploadedMbPerS)), 0),
      ]
    }),
  )
}
