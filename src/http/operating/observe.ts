import { errorFields, type Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { FinishedRequest } from '../request-handler.ts'
import { requestLine } from './request-line.ts'

/** Routes that machines ask every few seconds; their lines are for debugging only. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['health.live', 'health.ready', 'metrics'])

/** Logs a line and counts, for each request that ended. */
export function observeRequests(log: Log, metrics: Metrics): (finished: FinishedRequest) => void {
  return finished => {
    const { context, route, status, durationMs } = finished
    const { trace, requestId } = context
    metrics.countRequest({ route, status, durationMs, trace })
    const level = QUIET_ROUTES.has(route) ? 'debug' : 'info'
    if (log.writes(level)) log[level]('request', requestLine(finished))
    if (trace.failure !== undefined) {
      log.error('request failed', { request_id: requestId, route, ...errorFields(trace.failure) })
    }
  }
}
