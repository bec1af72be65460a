import type { GrantAllowance } from '../../../domain/admin/admin-token.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import type { Shortage } from '../../../domain/ledger/hold.ts'
import type { Id } from '../../../domain/ids.ts'
import type { StrictestRates } from '../../../domain/limits/admission.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { AttemptId } from './attempts.ts'
import type { Audit } from '../access/audit.ts'
import type { Blobs } from '../media/blobs.ts'
import type { Charge } from './charge.ts'
import type { LedgerReports } from './ledger-reports.ts'
import type { Limited } from './limits.ts'

/**
 * The books. Each method that changes them is one atomic, durable step, and says what repeating it does. Calls may be
 * concurrent, also on several nodes: a store may commit several together, and each call gets its own outcome.
 */
export interface Ledger extends LedgerReports {
  /**
   * Moves `amount` (more than zero) from `cash` or `promotions` to the account's available balance. With an
   * `idempotencyKey` (unique within the account), repeating it returns the first credit; with another amount or source
   * it throws `idempotency_key_reuse`. With an `allowance`, the credit is counted against what a token may grant that
   * day, in the same step, and throws `grants_per_day_exceeded` for more. A repeat counts nothing.
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

  /**
   * Frees those of these holds that have expired, and returns their number. Changes nothing of a hold that has ended,
   * was renewed or has not expired, so repeating it frees none again. If it rejects, some of them may be freed.
   */
  expireHolds(holds: readonly Hold[], atMs: number): Promise<number>

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

  /**
   * Checks every invariant of the books against the entries, and reports the first entry that is wrong. With `results`,
   * it also checks the stored files of all completed jobs, which can take minutes. Calls `onPart` when it begins each
   * part. Rejects if the books cannot be read.
   */
  verify(results?: Pick<Blobs, 'damageOf'>, onPart?: (part: VerifiedPart) => void): Promise<Verification>

  /**
   * The same, without stored files, for what was written since the last check that found nothing. A change of an
   * earlier row is only found by `verify`. Checks everything if there was no such check, if the last full one found a
   * problem, if this one finds one, or if the store does not know what it has checked. With `isAllUnreadable` it never
   * checks everything, except in a store without such checks: it begins at that last check also if a problem is known
   * since, so that its result is only part of what is wrong, and it rejects if there was none.
   */
  verifyRecent(about?: { readonly isAllUnreadable: true }): Promise<Verification>
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
      /** What is left of the strictest limits of rates. Absent without a demand; may be absent without such limits. */
      readonly rates?: StrictestRates
    }
  | Limited
  | ({ readonly outcome: 'refused' } & Shortage)

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

export function affectsNothing(affected: Affected): boolean {
  return affected !== 'everything' && affected.length === 0
}

/** The parts of a check, in the order in which they are checked. The results are not part of every check. */
export const verifiedParts = [
  'balances',
  'holds',
  'attempts',
  'jobs',
  'job_keys',
  'corrections',
  'switches',
  'limits',
  'catalog',
  'usage_days',
  'counts',
  'commits',
  'results',
] as const
export type VerifiedPart = (typeof verifiedParts)[number]

export type Verification = {
  /** At most a hundred, and at most a thousand damaged results. */
  readonly problems: readonly Problem[]
  readonly entries: number
  /** Includes problems beyond the hundredth. */
  readonly affected: Affected
  /** Stored files of jobs that were not checked, because other nodes have them on their disks. Absent for none. */
  readonly filesElsewhere?: number
  /** Only what was written since an earlier check was read. Absent for a full check. */
  readonly isRecent?: true
  /** Why the store could not note where the next check begins, which then reads more. Absent if it could. */
  readonly unnoted?: unknown
}
