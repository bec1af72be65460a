import type { Metrics } from '../../telemetry/metrics.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type Handler } from '../request-context.ts'

export type Readiness = { readonly isReady: boolean; readonly reason?: string }

/** `GET /health/live`: the process answers. The store is not checked, so that a busy one causes no restart. */
export const live: Handler = async () => jsonReply(200, { status: 'live' })

/** `GET /health/ready`: 200, or 503 with a reason while the gateway starts or stops or its store fails. */
export function ready(check: () => Promise<Readiness>): Handler {
  return async ({ record }) => {
    const { isReady, reason } = await check().catch((error: unknown) => {
      record.failure = error
      return STORE_FAILS
    })
    return isReady ? jsonReply(200, { status: 'ready' }) : jsonReply(503, { status: 'not_ready', reason })
  }
}

const STORE_FAILS: Readiness = { isReady: false, reason: 'The store cannot be read or written.' }

/** `GET /metrics` in the Prometheus text format. `admit` rejects for a request that may not read them. */
export function metricsRoute(metrics: Metrics, admit: (request: IncomingRequest) => Promise<void>): Handler {
  return async ({ request }) => {
    await admit(request)
    return { status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.render() }
  }
}
