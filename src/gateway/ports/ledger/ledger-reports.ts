import type { FailureReason, JobKind } from '../../../domain/jobs/job.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import type {
  Attribution,
  AttributionFilter,
  AttributionGrouping,
} from '../../../domain/ledger/attribution.ts'
import type { OperationKind } from '../../../domain/ledger/operation.ts'
import type { Id } from '../../../domain/ids.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { CallerSignal } from '../caller-signal.ts'
import type { Charge } from './charge.ts'

/** What the books say: statements, usage, losses and refunds, as lists and as sums. Nothing here changes the books. */
export interface LedgerReports {
  /**
   * The operations of an account, newest first: with `kinds` only these, and with `between` only those of that time. A
   * cursor is a place in the whole statement, so it also continues a page of another selection.
   */
  statement(accountId: number, page: StatementPage): Promise<readonly StatementLine[]>

  /** The charges of one account, or of all accounts if it is undefined; newest first. */
  usage(accountId: number | undefined, page: UsagePage): Promise<readonly UsageLine[]>

  /**
   * The work that no customer paid for, newest first: failed jobs with a loss or a cost of the provider, and attempts
   * that were abandoned or given back or that the provider bills. The loss of an abandoned attempt is the price of its
   * usage; zero if that is not known. With `between`, only those of that time: when the attempt was given up, the loss
   * was booked, or the job failed.
   */
  losses(page: LossPage): Promise<readonly LossLine[]>

  /**
   * The sums of the charges of a day (in UTC, as a number since 1970): one line for each account, key, model and
   * provider. Throws `unavailable` while an upgrade adds up earlier charges.
   */
  usageOfDay(day: number): Promise<readonly DayUsage[]>

  /** The charge with an id; undefined if there is none. */
  findCharge(id: Id): Promise<UsageLine | undefined>

  /**
   * The refunds of one account, or of all accounts if it is undefined; newest first, by the time at which they were
   * made.
   */
  refunds(accountId: number | undefined, page: UsagePage): Promise<readonly RefundLine[]>

  /** The sums of an account's charges in a time range, and of the refunds that were made in it. */
  usageTotals(accountId: number, between: TimeRange): Promise<NetTotals>

  /**
   * The same sums, of the requests that `matching` selects, in groups. It reads each charge of the range, in short
   * turns between which other work runs, and keeps one page of groups. Rejects if the signal fires before it has ended.
   */
  usageGroups(accountId: number, asked: GroupedUsage): Promise<UsageGroups>
}

/**
 * A page of a list. A store refuses a text that is not a cursor with `invalid_field`. A statement also refuses a cursor
 * of an operation that the account does not have, such as one that a restore removed: an empty page would look like the
 * end of the statement.
 */
export type Page = {
  readonly limit: number
  /** The `cursor` of the last line of the page before. */
  readonly before?: string
}

export type StatementPage = Page & {
  readonly kinds?: readonly OperationKind[]
  readonly between?: TimeRange
}

/** Only lines of the time `between`, and of requests that `matching` selects, which needs an account. */
export type UsagePage = Page & { readonly between?: TimeRange; readonly matching?: AttributionFilter }

/** A time range. The start is included, the end is not. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number }

export type UsageTotals = {
  /** The number of charged requests and jobs. */
  readonly charges: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly images: number
  /** Of videos. */
  readonly durationMs: number
  readonly cost: NanoUsd
}

/** What only the operator sees of charges. */
export type OperatorSums = {
  /** The part of the cost that was credited back, because the client got an error. */
  readonly compensated: NanoUsd
  /** What the providers bill for the charges, as far as it is known; also for those that were credited back. */
  readonly providerCost: NanoUsd
  readonly chargesWithoutCost: number
}

/** The sums of one charge or of several. */
export type ChargeSums = UsageTotals & OperatorSums

/** The sums of charges, and of the refunds that were made in the same time. */
export type NetTotals = ChargeSums & { readonly refunded: NanoUsd }

export type GroupedUsage = {
  readonly between: TimeRange
  readonly matching: AttributionFilter
  /** Undefined for no groups, only the totals. */
  readonly grouping?: AttributionGrouping
  /** The most groups of a page. */
  readonly limit: number
  /** The value of the last group of the page before. */
  readonly after?: string
  readonly signal: CallerSignal
}

export type UsageGroups = {
  /** In the order of their values. The group without a value is the last one of all. */
  readonly groups: readonly UsageGroup[]
  readonly hasMore: boolean
  /** Of all groups, on every page. */
  readonly totals: NetTotals
}

/** The sums of the requests with one value. A refund belongs to the group of its charge. */
export type UsageGroup = NetTotals & {
  /** Null for requests without the tag or the user. */
  readonly value: string | null
}

/** A line of a charge, or of its hold, has the attribution of the request. */
export type StatementLine = Attribution & {
  /** The id of the credit, the charged request or the hold. */
  readonly id: Id
  /** 1 for the account's first operation, without gaps. */
  readonly number: number
  /** Where the line is in the list; opaque. */
  readonly cursor: string
  readonly kind: OperationKind
  /** The change of the account's available balance: negative if money left it. */
  readonly amount: NanoUsd
  /** The request, job or idempotency key the movement belongs to. */
  readonly ref: string
  readonly note: string | null
  readonly atMs: number
}

export type UsageLine = Charge & {
  readonly id: Id
  readonly accountId: number
  /** The sum of its refunds until now. */
  readonly refunded: NanoUsd
  /** Where the line is in the list; opaque. */
  readonly cursor: string
}

export type LossPage = Page & { readonly between?: TimeRange }

export type DayUsage = OperatorSums & {
  readonly accountId: number
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  readonly charges: number
  readonly cost: NanoUsd
}

export type LossLine = {
  /** Of the job, or of the request of an attempt. */
  readonly id: Id
  /** Where the line is in the list; opaque. */
  readonly cursor: string
  readonly kind: JobKind | 'text'
  readonly accountId: number
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  /** Why the job failed, or the state of the attempt. */
  readonly reason: FailureReason | AttemptState
  /** The price of work that was done; zero for work without a price. */
  readonly loss: NanoUsd
  readonly providerCost: NanoUsd | null
  readonly atMs: number
}

export type RefundLine = {
  readonly id: Id
  readonly accountId: number
  /** Where the line is in the list; opaque. */
  readonly cursor: string
  readonly amount: NanoUsd
  readonly note: string | null
  readonly atMs: number
  /** The charge that was refunded. */
  readonly charge: Attribution &
    Pick<Charge, 'kind' | 'route' | 'model' | 'provider' | 'apiKeyId'> & { readonly id: Id }
}
