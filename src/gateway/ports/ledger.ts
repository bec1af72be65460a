import type { FailureReason, JobKind } from '../../domain/jobs/job.ts'
import type { GrantAllowance } from '../../domain/admin/admin-token.ts'
import type { AttemptState } from '../../domain/ledger/attempt.ts'
import type { Attribution, AttributionFilter, AttributionGrouping } from '../../domain/ledger/attribution.ts'
import type { HoldKind } from '../../domain/ledger/books.ts'
import type { Shortage } from '../../domain/ledger/hold.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { Id } from '../../domain/ids.ts'
import type { StrictestRates } from '../../domain/limits/admission.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import type { ImageTokens } from '../../domain/pricing/image-tokens.ts'
import type { ImageTariff, TextTariff, VideoTariff } from '../../domain/pricing/tariff.ts'
import type { AttemptId } from './attempts.ts'
import type { Audit } from './audit.ts'
import type { Blobs } from './blobs.ts'
import type { CallerSignal } from './caller-signal.ts'
import type { Limited } from './limits.ts'

/**
 * The books. Each method is one atomic, durable step, and says what repeating it does. Calls may be concurrent, also on
 * several nodes: a store may commit several together, and each call gets its own outcome.
 */
export interface Ledger {
  /**
   * Moves `amount` (more than zero) from `cash` or `promotions` to the account's available balance. With an
   * `idempotencyKey` (unique within the account), repeating it returns the first credit; with another amount or source
   * it throws `idempotency_key_reuse`. With an `allowance`, the credit is counted against what a token may grant that day,
   * in the same step, and throws `grants_per_day_exceeded` for more. A repeat counts nothing.
   */
  credit(request: {
    readonly id: Id
    readonly accountId: number
    readonly amount: NanoUsd
    readonly source: 'cash' | 'promotions'
    readonly note?: string
    readonly idempotencyKey?: string
    readonly allowance?: GrantAllowance
    readonly audit: Audit
  }): Promise<Credit>

  /**
   * Moves `amount` (more than zero) from the account's available balance to `cash`: a correction by the operator.
   * Throws `insufficient_balance` for more than the account can spend, unless `allowNegative` is set. Repeats are as
   * for `credit`.
   */
  debit(request: Debit): Promise<Correction>

  /**
   * Moves `amount` (more than zero) of a charge from revenue back to the account's available balance. A charge can be
   * refunded several times, in all at most its cost; of concurrent refunds that exceed it together, some are refused.
   *
   * Repeats are as for `credit`; a key that was used for another charge, another amount or a debit also throws
   * `idempotency_key_reuse`. Throws `already_exists` for more than is left of the cost and for a charge that was
   * compensated, `invalid_field` for more than its cost and for a part of it without an `idempotencyKey`, and a
   * RangeError for an id that no charge has.
   */
  refund(request: Refund): Promise<Correction>

  /**
   * Takes the limits and budgets of its scopes and moves `amount` (zero or more) from available to held, or refuses and
   * changes nothing. Repeating it with the same id
   * while the hold is open returns the same hold. A text hold may be only in memory, and then ends with the process.
   *
   * The node that placed a hold owns it. Unless the node renews it, the hold expires after `HOLD_TTL_MS` of the store's
   * clock: the wall clock for a hold that survives the process, the monotonic clock for one that is only in memory.
   */
  placeHold(request: {
    readonly id: Id
    readonly accountId: number
    readonly kind: HoldKind
    readonly amount: NanoUsd
    /** Of a text hold: what it takes of the limits of its scopes. Absent if it passes no limits. */
    readonly demand?: HoldDemand
    /** The job that the hold belongs to. Such a hold does not expire: it ends with its job. */
    readonly job?: Id
    readonly atMs: number
  }): Promise<HoldOutcome>

  /**
   * Ends an open hold: takes `charge.cost`, frees the rest, and records the charge in the same transaction. A text cost
   * may exceed its hold; the shortfall is taken from available, below zero if needed. A media cost may not: it throws a
   * RangeError. Repeating it returns the first outcome. Throws a RangeError for a hold that was released or never
   * placed, and for a charge of the wrong kind: a text hold needs a text charge, a media hold a charge of images or
   * video.
   *
   * A text hold that has expired is charged too, with the whole cost as shortfall. An expired media hold throws a
   * RangeError. Like every step, rejects with `unavailable` if it could not be committed; the hold then stays open.
   */
  captureHold(hold: Hold, charge: Charge): Promise<Captured>

  /** Frees the whole hold. Repeating it, or releasing a hold that has ended, changes nothing. */
  releaseHold(hold: Hold, atMs: number): Promise<void>

  /** Renews the open holds that this node owns: each then expires `HOLD_TTL_MS` from now. */
  renewHolds(): Promise<void>

  /** At most `limit` open holds of any owner that have expired and are not freed yet. */
  expiredHolds(limit: number): Promise<readonly Hold[]>

  /** Frees an expired hold. Returns false, and changes nothing, if it has ended, was renewed or has not expired. */
  expireHold(hold: Hold, atMs: number): Promise<boolean>

  /**
   * Charges an attempt that was billed after its client got an error, and credits the same amount back, in one step.
   * The statement shows both under the request's id, and the balance does not change. Repeating it changes nothing.
   * Throws a RangeError for an attempt that was not billed.
   */
  compensate(attempt: AttemptId, atMs: number): Promise<Compensated>

  /**
   * Calls `listener` with each account that may have money to hold again, after this node changed its balance or ended
   * its hold, and before the caller of that step gets its outcome. This is only a hint: changes by other nodes may be
   * reported late or never.
   */
  onFreed(listener: (accountId: number) => void): void

  /** The amounts that all accounts together hold, on all nodes. */
  heldNow(): Promise<Readonly<Record<HoldKind, NanoUsd>>>

  /** The balance of an account. Waits for no commit. */
  balance(accountId: number): Promise<Balance>

  /** The operations of an account, newest first. */
  statement(accountId: number, page: Page): Promise<readonly StatementLine[]>

  /** The charges of one account, or of all accounts if it is undefined; newest first. */
  usage(accountId: number | undefined, page: UsagePage): Promise<readonly UsageLine[]>

  /**
   * The work that no customer paid for, newest first: failed jobs with a loss or a cost of the provider, and attempts
   * that were abandoned or given back or that the provider bills. The loss of an abandoned attempt is the price of its
   * usage; zero if that is not known. With `between`, only those of that time: when the attempt was given up, the loss was
   * booked, or the job failed.
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
   * The same sums, of the requests that `matching` selects, in groups. It reads each charge of the range, in short turns
   * between which other work runs, and keeps one page of groups. Rejects if the signal fires before it has ended.
   */
  usageGroups(accountId: number, asked: GroupedUsage): Promise<UsageGroups>

  /**
   * Checks every invariant of the books against the entries, and reports the first entry that is wrong. With `results`,
   * it also checks the stored files of all completed jobs, which can take minutes. Rejects if the books cannot be read.
   */
  verify(results?: Pick<Blobs, 'damageOf'>): Promise<Verification>
}

export type Hold = {
  readonly id: Id
  readonly accountId: number
  readonly kind: HoldKind
  readonly amount: NanoUsd
}

/** Who makes a text request, and what it takes of the limits of its scopes until it ends. */
export type HoldDemand = {
  readonly apiKeyId: number
  /** The project of the key; absent for a key without one. A store knows it from the key. */
  readonly projectId?: number
  readonly model: string
  /** The estimated input and the output ceiling. */
  readonly tokens: number
  /** The worst case, which budgets reserve also if the balance holds nothing. */
  readonly amount: NanoUsd
}

export type HoldOutcome =
  | {
      readonly outcome: 'held'
      readonly hold: Hold
      /** What is left of the strictest limits. Absent if the hold has no demand. */
      readonly rates?: StrictestRates
    }
  | Limited
  | ({ readonly outcome: 'refused' } & Shortage)

/** A charge as it is recorded: with its frozen tariff, it can be recomputed without current prices. */
export type Charge = TextCharge | ImagesCharge | VideoCharge

type CommonCharge = Attribution & {
  readonly cost: NanoUsd
  /**
   * The cost of the result: the one that the provider reported, or else the result at the prices of the row's upstream.
   * Null if neither is known. For the operator only.
   */
  readonly providerCost: NanoUsd | null
  readonly route: string
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  readonly atMs: number
}

export type TextCharge = CommonCharge & {
  readonly kind: 'text'
  readonly usage: Usage
  readonly provenance: Provenance
  /** True if an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
  /** The cached input of an estimate, which an earlier request suggests. Absent for none, as in most charges. */
  readonly assumedCached?: number
  /** Null for free rows and for the upstream's own cost as it reported it. */
  readonly tariff: TextTariff | null
}

export type ImagesCharge = CommonCharge & {
  readonly kind: 'images'
  readonly images: number
  /** The tokens of the answer, of a model that is priced by them. */
  readonly tokens?: ImageTokens
  readonly tariff: ImageTariff
}

export type VideoCharge = CommonCharge & {
  readonly kind: 'video'
  /** The part of the clip that is charged. */
  readonly durationMs: number
  readonly tariff: VideoTariff
}

export type Captured = {
  readonly cost: NanoUsd
  /** The amount by which the cost exceeded the hold. */
  readonly shortfall: NanoUsd
}

export type Compensated = {
  /** The amount that was charged and credited back. */
  readonly cost: NanoUsd
  /** False if it had been done before. */
  readonly isFirst: boolean
}

type CommonCorrection = {
  readonly id: Id
  readonly amount: NanoUsd
  readonly note?: string
  /** Unique within the corrections of an account. */
  readonly idempotencyKey?: string
  readonly audit: Audit
}

export type Debit = CommonCorrection & { readonly accountId: number; readonly allowNegative: boolean }

export type Refund = CommonCorrection & {
  /** The id of the charge. */
  readonly charge: Id
}

export type Correction = { readonly id: Id; readonly amount: NanoUsd; readonly available: NanoUsd }

export type Credit = { readonly id: Id; readonly amount: NanoUsd; readonly available: NanoUsd }

export type Balance = {
  readonly available: NanoUsd
  readonly held: Readonly<Record<HoldKind, NanoUsd>>
  readonly spent: Readonly<Record<HoldKind, NanoUsd>>
  readonly credited: NanoUsd
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

/** Totals, and the sum of the refunds that were made in the same time. */
export type NetTotals = UsageTotals & { readonly refunded: NanoUsd }

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

export type DayUsage = {
  readonly accountId: number
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  readonly charges: number
  readonly cost: NanoUsd
  /** The part of the cost that was credited back, because the client got an error. */
  readonly compensated: NanoUsd
  /** What the provider bills for the charges, as far as it is known; also for those that were credited back. */
  readonly providerCost: NanoUsd
  readonly chargesWithoutCost: number
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

export type Problem = {
  /** Names the problem. It is the same in every check, so that the operator can accept the problem. */
  readonly id: string
  /** The account whose books are wrong; null if it concerns all accounts, like a wrong hash of a commit. */
  readonly accountId: number | null
  /** The first wrong entry; null for a problem elsewhere. */
  readonly entryId: string | null
  readonly message: string
  /** The operator accepted it: the audit log has a line with the action `books.accept` and its id as the subject. */
  readonly isAccepted: boolean
  /**
   * True for a damaged file of a completed job, and for a wrong count of a limit in memory, which the check corrected:
   * the books are right, and no paid request is refused.
   */
  readonly stopsNothing?: true
}

/** The accounts whose books have a problem that is not accepted, or all of them. */
export type Affected = 'everything' | readonly number[]

export type Verification = {
  /** At most a hundred, and at most a thousand damaged results. */
  readonly problems: readonly Problem[]
  readonly entries: number
  /** Includes problems beyond the hundredth. */
  readonly affected: Affected
}
