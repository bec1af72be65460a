import { closedAccountError } from '../../../domain/accounts/account.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import {
  canHold,
  capturing,
  EXPIRED_TEXT_HOLD,
  placing,
  releasing,
  requireFittingCharge,
  type HoldState,
  type HoldTerms,
} from '../../../domain/ledger/hold.ts'
import { addUsd, nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import type { Captured, Hold, HoldDemand, HoldOutcome } from '../../../gateway/ports/ledger/ledger.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import { repeatedCapture, type ChargeBooking, type ChargedRow } from '../rows/charge-rows.ts'
import type { holdsTable } from '../rows/money-tables.ts'
import type { NewRow } from '../rows/hashed-table.ts'
import { operationIdOf, type AccountState, type Operation } from '../rows/operation-rows.ts'

/** The books of an account cannot be read: it does not exist, or its row of balances is lost. */
export function noBooks(accountId: number): RangeError {
  return new RangeError(`There is no account ${accountId}, or its row of balances is missing.`)
}

/** A text hold that is asked for. */
export type TextHoldTerms = Hold & { readonly demand?: HoldDemand }

/** A text hold, which is only in memory. After it expired, it is kept until its request ends. */
export type TextHoldState = 'open' | 'expired' | 'ended'

/**
 * Whether a text hold was placed before and is open, so that placing it again is a repeat. `found` is the hold of the
 * same id that has not ended. Throws a RangeError for another amount, and for a hold that has expired.
 */
export function isTextHoldPlaced(
  found: { readonly amount: NanoUsd; readonly state: TextHoldState } | undefined,
  { id, amount }: Pick<Hold, 'id' | 'amount'>,
): boolean {
  if (found === undefined) return false
  if (found.amount !== amount) throw anotherHold(id)
  if (found.state === 'expired') throw new RangeError(`${formatId('hold', id)} has expired.`)
  return true
}

/** The rows that the capture of a text hold writes. */
type TextCapture = {
  readonly captured: Captured
  readonly booking: ChargeBooking
  readonly operation: Operation
}

/**
 * Captures a text hold. Nothing is held any more after it expired, so the whole cost is then shortfall. Undefined if it
 * has ended: the capture is a repeat of the one that ended it, or the hold was released. Throws a RangeError for a
 * charge of images or a clip.
 */
export function captureTextHold(
  found: { readonly id: Id; readonly amount: NanoUsd; readonly state: TextHoldState } | undefined,
  { kind, cost, atMs }: Pick<Charge, 'kind' | 'cost' | 'atMs'>,
  nextOperationId: bigint,
): TextCapture | undefined {
  requireFittingCharge('text', kind)
  if (found === undefined || found.state === 'ended') return undefined
  const { id, amount, state } = found
  const terms =
    state === 'expired' ? EXPIRED_TEXT_HOLD : ({ kind: 'text', amount, isVolatile: true } as const)
  const { movements, shortfall } = capturing(terms, cost)
  return {
    captured: { cost, shortfall },
    booking: { id, shortfall, operationId: cost === 0n ? null : nextOperationId },
    operation: { kind: 'charge', subject: id, movements, atMs },
  }
}

/** The outcome of a hold that the account cannot cover, with what it has free and what other work holds. */
export function refusalOfHold({ current, free, heldText }: AccountState): HoldOutcome {
  const held = addUsd(current.balances['held.media'], heldText)
  return { outcome: 'refused', available: free, held, heldText }
}

/** A media hold, and the job that it belongs to. */
export type MediaHold = Hold & { readonly job?: Id }

/** A stored media hold. */
export type HoldRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  kind: HoldKind
  amount: bigint
  state: HoldState
  /** Null for the hold of a job. */
  expires_at_ms: bigint | null
}

export function holdFrom({ id_key: key, id_tail: tail, account_id, kind, amount }: HoldRow): Hold {
  return { id: { key, tail }, accountId: Number(account_id), kind, amount: nanoUsd(amount) }
}

/** The row of this id. Undefined if it was never placed. Throws a RangeError if the id is of another hold. */
function sameHold(row: HoldRow | null, { id, accountId, kind, amount }: Hold): HoldRow | undefined {
  if (row === null) return undefined
  const isSame = Number(row.account_id) === accountId && row.kind === kind && row.amount === amount
  if (!isSame) throw anotherHold(id)
  return row
}

/** The facts of a step of a media hold. */
type HoldFacts = {
  /** The row of the hold's id. */
  readonly found: HoldRow | null
  /** The row id that the next operation gets. */
  readonly nextOperationId: bigint
}

/** The operation and the row of a hold that is placed; without them, nothing is written. */
export type PlacedHold = {
  readonly outcome: HoldOutcome
  readonly write?: { readonly operation: Operation; readonly row: NewRow<typeof holdsTable> }
}

/** Places a media hold, or refuses it. Throws a RangeError for a hold that has ended. */
export function placeMediaHold(
  { found, books, nextOperationId }: HoldFacts & { readonly books: AccountState },
  { job, ...hold }: MediaHold,
  by: { readonly owner: bigint; readonly expiresAtMs: number; readonly atMs: number },
): PlacedHold {
  const { id, accountId, kind, amount } = hold
  const state = sameHold(found, hold)?.state
  if (state === 'open') return { outcome: { outcome: 'held', hold } }
  if (state !== undefined) throw new RangeError(`${formatId('hold', id)} is ${state} already.`)
  if (books.current.isClosed) throw closedAccountError()
  if (!canHold(books.free, amount)) return { outcome: refusalOfHold(books) }
  const movements = placing(mediaTerms(hold))
  const row = {
    id_key: id.key,
    id_tail: id.tail,
    account_id: accountId,
    kind,
    amount,
    placed_by: operationIdOf(movements, nextOperationId),
    placed_at_ms: by.atMs,
    owner: by.owner,
    job_key: job?.key ?? null,
    job_tail: job?.tail ?? null,
    state: 'open',
    // The hold of a job ends with the job.
    expires_at_ms: job === undefined ? by.expiresAtMs : null,
  }
  const operation: Operation = { kind: 'hold', subject: id, movements, atMs: by.atMs }
  return { outcome: { outcome: 'held', hold }, write: { operation, row } }
}

/** The rows that the end of a media hold writes. */
export type EndedHold = {
  readonly operation: Operation
  readonly end: {
    readonly state: Exclude<HoldState, 'open'>
    /** The row id of the operation; null if it moves nothing. */
    readonly resolvedBy: bigint | null
    readonly atMs: number
  }
}

/**
 * Captures a media hold: takes the cost and frees the rest. Writes nothing for a repeat. Throws a RangeError if the
 * hold has expired, was released or was never placed.
 */
export function captureMediaHold(
  { found, first, nextOperationId }: HoldFacts & { readonly first: ChargedRow | null },
  hold: Hold,
  charge: Charge,
): { readonly captured: Captured; readonly write?: EndedHold & { readonly booking: ChargeBooking } } {
  const { id } = hold
  const { cost, atMs } = charge
  requireFittingCharge('media', charge.kind)
  if (sameHold(found, hold)?.state !== 'open') return { captured: repeatedCapture(hold, cost, first) }
  if (first !== null) throw new RangeError(`${formatId('hold', id)} was charged without its hold.`)
  const { movements, shortfall } = capturing(mediaTerms(hold), cost)
  const operation: Operation = { kind: 'capture', subject: id, movements, atMs }
  const resolvedBy = operationIdOf(movements, nextOperationId)
  const booking = { id, shortfall, operationId: cost === 0n ? null : resolvedBy }
  const end = { state: 'captured', resolvedBy, atMs } as const
  return { captured: { cost, shortfall }, write: { booking, operation, end } }
}

/**
 * Frees a whole media hold, because it is released or its time is over at `nowMs`. Undefined, to write nothing, if it
 * is not open or its time is not over. The hold of a job has no end.
 */
export function freeMediaHold(
  { found, nextOperationId }: HoldFacts,
  hold: Hold,
  to:
    | { readonly state: 'released'; readonly atMs: number }
    | { readonly state: 'expired'; readonly atMs: number; readonly nowMs: number },
): EndedHold | undefined {
  const row = sameHold(found, hold)
  if (row?.state !== 'open') return undefined
  if (to.state === 'expired' && !isOver(row, to.nowMs)) return undefined
  const { state, atMs } = to
  const movements = releasing(mediaTerms(hold))
  const kind = state === 'released' ? 'release' : 'expire'
  return {
    operation: { kind, subject: hold.id, movements, atMs },
    end: { state, resolvedBy: operationIdOf(movements, nextOperationId), atMs },
  }
}

export function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${formatId('hold', id)} was given to another hold.`)
}

function isOver({ expires_at_ms: expiresAtMs }: HoldRow, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= BigInt(nowMs)
}

function mediaTerms({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: false }
}
