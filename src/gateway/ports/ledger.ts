import type { HoldKind } from '../../domain/ledger/books.ts'
import type { OperationKind } from '../../domain/ledger/operation.ts'
import type { Id } from '../../domain/ids.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import type { AttemptId } from './attempts.ts'
import type { Audit } from './audit.ts'

/**
 * The books. Every method is one atomic, durable step; each says what repeating it does. Many callers may call at once:
 * what waits is committed together, and each call gets its own outcome. What needs no commit may be answered at once; what is
 * refused always rejects.
 */
export interface Ledger {
  /**
   * Moves `amount` (more than zero) from `cash` or `promotions` to the account's available balance. With an
   * `idempotencyKey` (unique within the account), repeating it returns the first credit; with another amount or source it
   * throws `idempotency_key_reuse`.
   */
  credit(request: {
    readonly id: Id
    readonly accountId: number
    readonly amount: NanoUsd
    readonly source: 'cash' | 'promotions'
    readonly note?: string
    readonly idempotencyKey?: string
    readonly audit: Audit
  }): Promise<Credit>

  /**
   * Moves `amount` (zero or more) from available to held, or refuses without a trace. Repeating it with the same id
   * while the hold is open returns the same hold. A text hold may be volatile: it dies with the process, as its request does.
   */
  placeHold(request: {
    readonly id: Id
    readonly accountId: number
    readonly kind: HoldKind
    readonly amount: NanoUsd
    readonly atMs: number
  }): Promise<HoldOutcome>

  /**
   * Ends an open hold: takes `charge.cost`, frees the rest, and records the charge in the same transaction. A text cost may
   * exceed its hold, and then takes the shortfall from available, below zero if need be; a media cost may not (throws).
   * Repeating it returns the first outcome. Throws a RangeError for a hold that was released or never placed.
   */
  captureHold(hold: Hold, charge: Charge): Promise<Captured>

  /** Frees the whole hold. Repeating it, or releasing one that was captured, changes nothing. */
  releaseHold(hold: Hold, atMs: number): Promise<void>

  /**
   * Charges an attempt that was billed after its client had been turned away, and gives the same amount back, in one step: the
   * statement shows both, under the request's id, and what the account has is as before. Repeating it changes nothing. Throws a
   * RangeError for an attempt that was not billed.
   */
  compensate(attempt: AttemptId, atMs: number): Promise<Compensated>

  /**
   * Has `listener` told of each account that may have got money to hold: a commit came to it, or a hold ended. It is told at once,
   * and before those who wait for the step itself.
   */
  onFreed(listener: (accountId: number) => void): void

  /** What an account has. Reading costs nothing and waits for no commit. */
  balance(accountId: number): Promise<Balance>

  /** Movements of an account's money, newest first: at most `limit`, before the `position` that `before` names. */
  statement(accountId: number, page: Page): Promise<readonly StatementLine[]>

  /** Charged requests, newest first; of one account, or of all where it is undefined. `before` is an `id.key`. */
  usage(accountId: number | undefined, page: Page): Promise<readonly UsageLine[]>

  /** Checks every invariant of the books against the entries. Names the first entry that is wrong. */
  verify(): Promise<Verification>
}

export type Hold = {
  readonly id: Id
  readonly accountId: number
  readonly kind: HoldKind
  readonly amount: NanoUsd
}

export type HoldOutcome =
  | { readonly outcome: 'held'; readonly hold: Hold }
  | { readonly outcome: 'refused'; readonly available: NanoUsd; readonly held: NanoUsd }

/** What is recorded of a charge: enough to recompute it without today's prices. */
export type Charge = {
  readonly cost: NanoUsd
  readonly route: string
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  readonly usage: Usage
  readonly provenance: Provenance
  /** True where an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
  /** The frozen quote: the prices this cost was computed with. Null for free rows and the upstream's own cost. */
  readonly tariff: TextTariff | null
  readonly atMs: number
}

export type Captured = {
  readonly cost: NanoUsd
  /** By how much the cost exceeded the hold. */
  readonly shortfall: NanoUsd
}

export type Compensated = {
  /** What was charged, and given back. */
  readonly cost: NanoUsd
  /** False where it had been done before. */
  readonly isFirst: boolean
}

export type Credit = { readonly id: Id; readonly amount: NanoUsd; readonly available: NanoUsd }

export type Balance = {
  readonly available: NanoUsd
  readonly held: Readonly<Record<HoldKind, NanoUsd>>
  readonly spent: Readonly<Record<HoldKind, NanoUsd>>
  readonly credited: NanoUsd
}

export type Page = { readonly limit: number; readonly before?: bigint }

export type StatementLine = {
  /** The credit's, the charged request's or the hold's. */
  readonly id: Id
  /** The place in the books, in the order of booking: what `Page.before` counts from. */
  readonly position: bigint
  readonly kind: OperationKind
  /** The change of the account's available balance: negative where money left it. */
  readonly amount: NanoUsd
  /** The request, job or idempotency key the movement belongs to. */
  readonly ref: string
  readonly note: string | null
  readonly atMs: number
}

export type UsageLine = Charge & { readonly id: Id; readonly accountId: number }

export type Problem = {
  /** The first wrong entry, where one is. */
  readonly entryId: string | null
  readonly message: string
}

export type Verification = { readonly problems: readonly Problem[]; readonly entries: number }
