import type { Id } from '../../domain/ids.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import type { SentText } from '../../protocol/json/parse-json.ts'
import type { Authenticated } from '../ports/accounts.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Moderation } from '../ports/moderator.ts'

/** One request of a customer on a text route, read whole and not yet understood. */
export type TextCall = {
  readonly id: Id
  readonly caller: Authenticated
  readonly body: SentText
  /** Its `signal` fires when the client leaves. Read only where it matters: it is made on first use. */
  readonly client: { readonly signal: CallerSignal }
  readonly trace: TextTrace
}

/** An answer: the upstream's or, for an error that is handed on, its status and scrubbed envelope. */
export type TextReply = {
  readonly status: number
  /** Whole, or a stream that is made as it is read. */
  readonly body: WholeBody | ByteStream
  /** For a stream: resolves when it is over and its money settled. `isWhole` where it ended well and was read to its end. */
  readonly ended?: Promise<{ readonly isWhole: boolean }>
  /** Allowlisted headers of the upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** What the upstream said of its rate limits: lines of a head, each with its end. */
  readonly rateLimits?: string
  /** The amount charged; null where the reply names no cost. */
  readonly cost: NanoUsd | null
  /** The answer of an identical earlier request, which was paid with that. */
  readonly isReplay?: true
}

/** What is known whole: text, or the bytes that a stream once was. */
export type WholeBody = string | Uint8Array<ArrayBuffer>

/** An answer that is not made as it is read. */
export type WholeReply = TextReply & { readonly body: string }

/** A provider of the catalog, and what it failed with, in one of few words. */
export type UpstreamFailure = { readonly provider: string; readonly reason: UpstreamFailureReason }
export type UpstreamFailureReason =
  | 'rate_limited'
  | 'unpaid'
  | 'not_offered'
  | 'unreachable'
  | 'server'
  | 'no_answer'
  | 'timeout'
  | 'broken_stream'
  | 'idle_stream'

/** Notes that the upstream that was asked last has failed. */
export function addFailure(trace: TextTrace, reason: UpstreamFailureReason): void {
  ;(trace.upstreamFailures ??= []).push({ provider: trace.provider ?? '', reason })
}

/** What is known of a request by the time it ends, whichever way; for the log line and the metrics. */
export type TextTrace = {
  model?: string
  provider?: string
  upstreamStatus?: number
  usage?: Usage
  provenance?: Provenance
  isClamped?: boolean
  cost?: NanoUsd
  /** By how much the charge exceeded the worst case that it was admitted with. */
  shortfall?: NanoUsd
  /** True where an upstream was to report its cost and did not: what it charges is the operator's loss. */
  isCostUnreported?: boolean
  /** The upstreams that failed before another was asked, and how; absent where the first one served. */
  switchedFrom?: readonly string[]
  /** What went wrong upstream, for the operator; never sent to the client. */
  upstreamProblem?: string
  /** Every failure of an upstream on the way, also where another one served. */
  upstreamFailures?: UpstreamFailure[]
  /** The client left before its reply or the end of its stream, or a stop of the gateway cut it. */
  clientDisconnected?: boolean
  /** What the moderator said, where one was asked; and, for the operator, why it said nothing. */
  moderation?: Moderation['verdict']
  moderationProblem?: string
  /** Answered with what an identical request got. */
  isReplay?: boolean
}
