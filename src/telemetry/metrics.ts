import { Registry } from 'prom-client'
import { openBackgroundMetrics, type BackgroundMetrics } from './background-metrics.ts'
import { registerGauges, type Gauges } from './gauges.ts'
import type { JobMetrics } from './job-metrics.ts'
import { registerProcessMetrics, type ProcessFiles } from './process-metrics.ts'
import { openRequestMetrics, type RequestMeasure } from './request-metrics.ts'

/** All metrics of the gateway. */
export type Metrics = BackgroundMetrics & {
  readonly countRequest: (measure: RequestMeasure) => void
  /** The Prometheus text format. */
  readonly render: () => Promise<string>
  readonly contentType: string
}

/**
 * `jobs` are the metrics of jobs, which begin to count before the others: the first jobs change while parts are opened.
 */
export function openMetrics(gauges: Gauges, jobs: JobMetrics, files: ProcessFiles): Metrics {
  const registry = new Registry()
  const requests = openRequestMetrics(registry, jobs)
  registerGauges(gauges, registry)
  registerProcessMetrics(registry, files)
  return {
    ...openBackgroundMetrics(registry),
    countRequest: requests.count,
    render: async () => `${await registry.metrics()}\n${await jobs.text()}\n${requests.text()}`,
    contentType: registry.contentType,
  }
}
