import { median } from '../statistics.ts'
import { spread, table, withRange } from '../report.ts'
import type { LargeBodies } from './large-bodies.ts'
import type { BacklogCost } from './measure-backlog.ts'
import type { JobSample } from './measure-jobs.ts'
import type { MediaFigures } from './measure-media.ts'
import type { ReconcilerCost } from './measure-reconciler.ts'
import type { TransferSample } from './measure-transfers.ts'

export function mediaTables({ jobs, transfers, backlog, reconciler }: MediaFigures): string {
  const tables = [jobsTable(jobs), transfersTable(transfers), backlogTable(backlog)]
  return [...tables, reconcilerSentence(reconciler)].join('\n\n')
}

export function largeBodiesTable(measured: readonly LargeBodies[]): string {
  return table(
    ['request', 'RSS before MB', 'RSS max MB', 'outcome'],
    measured.map(({ load, rssBeforeMb, rssMaxMb, outcome }) => [
      load,
      rssBeforeMb.toFixed(0),
      rssMaxMb.toFixed(0),
      outcome,
    ]),
  )
}

function jobsTable(samples: readonly JobSample[]): string {
  const groups = Map.groupBy(samples, ({ request, connections }) => `${request} ${connections}`)
  const chatUs = (connections: number) =>
    median((groups.get(`chat ${connections}`) ?? []).map(({ cpuUsPerRequest }) => cpuUsPerRequest))
  return table(
    ['request', 'connections', 'requests/s', 'CPU µs/request', '× chat'],
    [...groups.values()].map(own => {
      const { request, connections } = own[0]!
      const cpuUs = spread(own.map(({ cpuUsPerRequest }) => cpuUsPerRequest))
      return [
        request,
        String(connections),
        withRange(spread(own.map(({ requestsPerSecond }) => requestsPerSecond)), 0),
        withRange(cpuUs, 0),
        (cpuUs.median / chatUs(connections)).toFixed(1),
      ]
    }),
  )
}

function transfersTable(samples: readonly TransferSample[]): string {
  const groups = Map.groupBy(samples, ({ request }) => request)
  return table(
    ['request', 'MB/s per core'],
    [...groups].map(([request, own]) => [
      request,
      withRange(spread(own.map(({ mbPerCpuSecond }) => mbPerCpuSecond)), 0),
    ]),
  )
}

function backlogTable(cost: BacklogCost): string {
  const { clips, aloneP50Ms, aloneP99Ms, p50Ms, p99Ms, clipsPerSecond } = cost
  return table(
    ['reads of another client', 'p50 ms', 'p99 ms', 'clips/s'],
    [
      ['alone', aloneP50Ms.toFixed(1), aloneP99Ms.toFixed(1), ''],
      [`beside ${clips} sandbox clips`, p50Ms.toFixed(1), p99Ms.toFixed(1), clipsPerSecond.toFixed(0)],
    ],
  )
}

function reconcilerSentence(cost: ReconcilerCost): string {
  const { openJobs, polled, passSeconds, passCpuSeconds, coreShare } = cost
  return (
    `Reconciler with ${openJobs} open jobs: a pass polls ${polled} of them in ${passSeconds.toFixed(1)} s ` +
    `with ${passCpuSeconds.toFixed(2)} s of CPU. With a pass every 150 s, ${(coreShare * 100).toFixed(1)} % of a core.`
  )
}
