import type { StrictestRates } from '../../domain/limits/admission.ts'
import type { Id } from '../../domain/ids.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import type { RefusedBy } from '../ports/requests/request-records.ts'
import type { Moderation } from '../ports/providers/moderator.ts'
import type { UpstreamsRecord } from '../upstreams/report-attempts.ts'

/**
 * The facts about a finished request, for the log line, the metrics and the headers with its limits. The request path
 * only writes it: no decision and no book entry depends on it.
 */
export type TextRecord = UpstreamsRecord & {
  model?: string
  /** The end user that the request names. */
  userId?: string
  usage?: Usage
  provenance?: Provenance
  isClamped?: boolean
  cost?: NanoUsd
  /** What the charged answer cost the operator; null if that is not known. It is never sent to the client. */
  providerCost?: NanoUsd | null
  /** The amount by which the charge exceeded the worst case that the request was admitted with. */
  shortfall?: NanoUsd
  /** True if the upstream should have reported its cost and did not. The operator pays for that answer. */
  isCostUnreported?: boolean
  /** True if the upstream bills the request although it refused it. The operator pays for it. */
  isRefusalBilled?: boolean
  /** The amount that was held for the request. */
  held?: NanoUsd
  /** The problem of the upstream, for the operator. It is never sent to the client. */
  upstreamProblem?: string
  /** The client disconnected before its reply or its stream ended, or a stop of the gateway cut it. */
  clientDisconnected?: boolean
  /** The verdict of the moderator, if there is one. */
  moderation?: Moderation['verdict']
  /** Why the moderator gave no verdict, for the operator. */
  moderationProblem?: string
  /** True if the request got the answer of an identical request. */
  isReplay?: boolean
  /** The request that paid for a replayed answer. */
  replayOf?: Id
  /** What is left of the strictest limits of the caller. */
  rates?: StrictestRates
  /** The limit or budget that refused the request. */
  refusedBy?: RefusedBy
}
