import {
  rateLimits,
  type BudgetPeriod,
  type RateLimit,
  type ScopeKind,
} from '../../../domain/limits/scope.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { Usage } from '../../../domain/pricing/usage.ts'
import type { ReportGroup, RequestSums } from '../../../domain/requests/request-report.ts'
import type { TimeRange } from '../ledger/ledger-reports.ts'

/**
 * One billable request, as it is kept after its reply has ended. It has no prompt, answer, header or message of an
 * error. The hold and the charge of a text request have the same id as the request, under other prefixes; those of a
 * job have the id of the job.
 */
export type RecordedRequest = {
  /** `req_…`. */
  readonly id: string
  /** When the request arrived: the time in its id. */
  readonly atMs: number
  readonly accountId: string
  readonly apiKeyId: string
  readonly projectId?: string | undefined
  /** The name of a route: `chat`, `images.edits`. */
  readonly route: string
  /** The name of a catalog row. Absent if the request was refused before its model was found. */
  readonly model?: string | undefined
  /** The HTTP status; 499 if the client disconnected before its reply. A stream that broke has 200 and a code. */
  readonly status: number
  /**
   * Of the gateway or, for a job, of its provider. Absent for a request that succeeded, and for an upstream's refusal.
   */
  readonly errorCode?: string | undefined
  /** From the arrival of the head to the end of the reply. Has up to three decimals. */
  readonly durationMs: number
  /** Until the first byte of the reply was sent. */
  readonly firstByteMs?: number
  /** The amount that was held. Absent if nothing was, as for a replay. */
  readonly held?: NanoUsd | undefined
  /** Of a request that the balance or a budget refused: what it had to hold, and what was left for it. */
  readonly required?: NanoUsd | undefined
  readonly available?: NanoUsd | undefined
  /** Of a request that a limit or a budget refused: which one, of what. */
  readonly refusedBy?: RefusedBy | undefined
  /** The calls of upstreams in their order. The one whose answer the client got has no reason. */
  readonly attempts: readonly RecordedAttempt[]
  /** What the request was charged. Absent for a replay, and for a job that had not ended with the reply. */
  readonly cost?: NanoUsd | undefined
  /** Counted in reports, and not kept with the record. Absent for a replay. */
  readonly usage?: Usage | undefined
  /** `img_…` or `vid_…`: the job that the request made or got again. */
  readonly jobId?: string | undefined
  readonly isReplay: boolean
  /** The request whose answer was replayed, if it is known. */
  readonly replayOf?: string | undefined
  readonly clientDisconnected: boolean
  /** Names and values that the client gave for its own reports. They are bounded before they are added. */
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** The client's own name for its end user. */
  readonly userId?: string | undefined
  /**
   * The later refusals of the same key with the same code in the same minute that are only counted. Zero but for the
   * last refusal that was kept.
   */
  readonly alikeRefusals: number
}

/** The limits of a scope, and its budgets by their periods. */
export const recordedLimits = [
  ...rateLimits,
  'day_budget',
  'week_budget',
  'month_budget',
  'total_budget',
] as const satisfies readonly (RateLimit | `${BudgetPeriod}_budget`)[]

export type RefusedBy = { readonly scope: ScopeKind; readonly limit: (typeof recordedLimits)[number] }

export type RecordedAttempt = {
  readonly provider: string
  /**
   * An `UpstreamFailureReason`, the `FailureReason` of a job, or `refused` for a request that the upstream refused.
   * Absent if the upstream served the request.
   */
  readonly reason?: string
}

/** All of its conditions must be met. Ids are the public ones. */
export type RequestFilter = {
  readonly accountId?: string
  readonly apiKeyId?: string
  readonly projectId?: string
  readonly model?: string
  readonly errorCode?: string
  /** The status of the reply, such as 429. */
  readonly status?: number
  readonly userId?: string
  /** One tag with this value. */
  readonly tag?: { readonly name: string; readonly value: string }
  /** Only requests with an error code or a status from 400. */
  readonly isFailed?: boolean
  /** By arrival. */
  readonly between?: TimeRange
}

/** The latest, the most expensive or the longest requests first. Requests without a cost come last. */
export type RequestSort = 'newest' | 'cost' | 'duration'

export type RequestQuery = RequestFilter & {
  readonly sort?: RequestSort
  readonly limit: number
  /** The `next` of the page before, with the same filter and sort; opaque. */
  readonly cursor?: string
}

export type RequestPage = { readonly requests: readonly RecordedRequest[]; readonly next?: string }

export type RequestReportQuery = {
  readonly by: ReportGroup
  /** By arrival: whole days in UTC, or whole hours of a report by hour or by day. */
  readonly between: TimeRange
}

/**
 * The sums of each group: of the ISO time of an hour, of a day such as 2026-11-01, of a status, of the name of a model
 * or a provider, or of the public id of an account. In no order.
 */
export type RequestReport = ReadonlyMap<string, RequestSums>

/** How many records this process has written and lost since its start. */
export type RecordCounts = {
  readonly written: number
  /** Lost: the queue was full, or the file could not be written. */
  readonly dropped: number
  /** Refusals that are only counted, with the last record of their minute. */
  readonly suppressed: number
}

/**
 * The records of billable requests. They answer questions about requests; no money depends on them. Records are written
 * in the background, and deleted after some days or when there are too many.
 */
export interface RequestRecords {
  /** False if the records are switched off. Then nothing is kept, and lists are empty. */
  readonly isOn: boolean

  /**
   * Takes a record. Never throws or waits: a record that does not fit into the queue is dropped and counted. Returns
   * false for a refusal of which there were many alike, so that it is only counted.
   */
  add(record: RecordedRequest): boolean

  /**
   * A page of records, with all that were added before the call. Rejects with `invalid_field` for a text that is not a
   * cursor of this sort, with `overloaded` if too many reads wait, and with `unavailable` if the records cannot be
   * read.
   */
  list(query: RequestQuery): Promise<RequestPage>

  /**
   * The record of a request by its id, or of the request that made a job by the id of the job. Undefined if it is not
   * kept. Rejects as `list` does.
   */
  find(id: string): Promise<RecordedRequest | undefined>

  /** The sums of all requests since 92 days ago, also of those whose records are deleted. Rejects as `list` does. */
  report(query: RequestReportQuery): Promise<RequestReport>

  readonly counts: RecordCounts

  /** Why records are being lost now, for the operator. Undefined if none are. */
  readonly problem: string | undefined
}

/** Writes and reads the records, for `RequestRecorder`. It has no queue: each call is one step. */
export interface RequestRecordStore {
  /** The most records of a batch. Larger batches cost less CPU, and keep the store busy for longer. */
  readonly batchMax: number

  /**
   * Writes a batch, or nothing of it. Resolves when the batch survives the end of this process. Never rejects: the
   * result names the problem, for the operator. Then it deletes some old records, so that the store keeps its bounds.
   */
  write(batch: RecordBatch): Promise<{ readonly problem?: string }>

  /** See `RequestRecords`. */
  list(query: RequestQuery): Promise<RequestPage>
  find(id: string): Promise<RecordedRequest | undefined>
  report(query: RequestReportQuery): Promise<RequestReport>

  /**
   * Deletes a bounded number of records that are too old. Resolves with true if more are left. Rejects if the store
   * cannot be written.
   */
  sweep(nowMs: number): Promise<boolean>

  /** Ends the store after the calls that it has got. Repeating it changes nothing. */
  close(): Promise<void>
}

export type RecordBatch = {
  readonly requests: readonly RecordedRequest[]
  /** The counts of alike refusals that changed, by the id of the record that shows them. */
  readonly alikeRefusals: ReadonlyMap<string, number>
  /** Refusals that came since the last batch and have no record, each with how many were like it. */
  readonly onlyCounted?: readonly { readonly request: RecordedRequest; readonly count: number }[]
  readonly nowMs: number
}
