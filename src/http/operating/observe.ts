import { errorFields, type Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Forwarding } from '../forwarding.ts'
import type { FinishedRequest } from '../request-handler.ts'
import { requestLine } from './request-line.ts'

/** Routes that monitoring calls every few seconds. They are logged at level debug. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['health.live', 'health.ready', 'metrics'])

/** Logs and counts each finished request. */
export function observeRequests(
  log: Log,
  metrics: Metrics,
  forwarding: Forwarding,
): (finished: FinishedRequest) => void {
  return finished => {
    const { context, route, status, durationMs } = finished
    const { trace, requestId } = context
    metrics.countRequest({ route, status, durationMs, trace })
    const level = QUIET_ROUTES.has(route) ? 'debug' : 'info'
    if (log.writes(level))
      log[level]('request', requestLine(finished, forwarding.clientAddress(context.request)))
    if (trace.failure !== undefined) {
      log.error('request failed', { request_id: requestId, route, ...errorFields(trace.failure) })
    }
  }
}
