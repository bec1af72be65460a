import { GatewayError } from '../../domain/errors.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { Handler } from '../request-context.ts'

/** `GET /metrics` in the Prometheus text format. Public if `isAdmin` is undefined. */
export function metricsRoute(
  metrics: Metrics,
  isAdmin: ((request: IncomingRequest) => boolean) | undefined,
): Handler {
  return async ({ request }) => {
    if (isAdmin !== undefined && !isAdmin(request)) {
      throw new GatewayError(
        'invalid_api_key',
        'The metrics need the admin key. Send it as "Authorization: Bearer <admin key>".',
      )
    }
    return { status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.render() }
  }
}
