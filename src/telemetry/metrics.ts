import { Registry } from 'prom-client'
import { openBackgroundMetrics, type BackgroundMetrics } from './background-metrics.ts'
import { registerGauges, type Gauges } from './gauges.ts'
import { openJobMetrics, type JobMetrics } from './job-metrics.ts'
import { openMarginMetrics, type MarginMetrics } from './margin-metrics.ts'
import { registerProcessMetrics, type ProcessFiles } from './process-metrics.ts'
import { openRequestMetrics, type RequestMeasure } from './request-metrics.ts'

/** All metrics of the gateway. */
export type Metrics = BackgroundMetrics & {
  readonly countRequest: (measure: RequestMeasure) => void
  /** The Prometheus text format. */
  readonly render: () => Promise<string>
  readonly contentType: string
}

/** The metrics that begin to count before the others: the first jobs change while parts are opened. */
export type EarlyMetrics = { readonly jobs: JobMetrics; readonly margins: MarginMetrics }

export function openEarlyMetrics(): EarlyMetrics {
  const margins = openMarginMetrics()
  return { jobs: openJobMetrics(margins), margins }
}

export function openMetrics(gauges: Gauges, { jobs, margins }: EarlyMetrics, files: ProcessFiles): Metrics {
  const registry = new Registry()
  const requests = openRequestMetrics(registry, jobs, margins)
  registerGauges(gauges, registry)
  registerProcessMetrics(registry, files)
  return {
    ...openBackgroundMetrics(registry),
    countRequest: requests.count,
    render: async () =>
      `${await registry.metrics()}\n${await jobs.text()}\n${await margins.text()}\n${requests.text()}`,
    contentType: registry.contentType,
  }
}
