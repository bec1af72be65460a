import { Registry } from 'prom-client'
import { openBackgroundMetrics, type BackgroundMetrics } from './background-metrics.ts'
import { registerGauges, type Gauges } from './gauges.ts'
import { openRequestMetrics, type RequestMeasure } from './request-metrics.ts'

/** All metrics of the gateway. */
export type Metrics = BackgroundMetrics & {
  readonly countRequest: (measure: RequestMeasure) => void
  /** The Prometheus text format. */
  readonly render: () => Promise<string>
  readonly contentType: string
}

export function openMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const requests = openRequestMetrics(registry)
  registerGauges(gauges, registry)
  return {
    ...openBackgroundMetrics(registry),
    countRequest: requests.count,
    render: async () => `${await registry.metrics()}\n${requests.text()}`,
    contentType: registry.contentType,
  }
}
