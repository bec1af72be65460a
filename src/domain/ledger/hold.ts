import { addUsd, nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { heldBook, revenueBook, type HoldKind } from './books.ts'
import type { Movement } from './post.ts'

/** A hold that its owner does not renew expires after this time. The hold of a job does not expire. */
export const HOLD_TTL_MS = 120_000
/** How often a node renews its holds: three renewals may fail before a hold expires. */
export const HOLD_RENEW_EVERY_MS = 30_000

/**
 * Money set aside for work whose cost is not known yet. The money of a durable hold has moved from `available` to
 * `held`. A volatile hold is only in the memory of the one process that can spend the account's money: its money stays
 * in `available`, and that process does not count it as free.
 */
export type HoldTerms = {
  readonly kind: HoldKind
  readonly amount: NanoUsd
  readonly isVolatile: boolean
}

export type HoldState = 'open' | 'captured' | 'released' | 'expired'

/** The transitions between states. Text that ends after its hold expired is still charged; media is not. */
export const holdTransitions = {
  open: ['captured', 'released', 'expired'],
  captured: [],
  released: [],
  expired: ['captured'],
} as const satisfies Record<HoldState, readonly HoldState[]>

/** Whether `free` (available less volatile holds) covers a hold. A hold of zero needs no money. */
export function canHold(free: NanoUsd, amount: NanoUsd): boolean {
  if (amount < 0n) throw new RangeError(`A hold of ${amount} is negative.`)
  return amount === 0n || amount <= free
}

/** The money of an account when a hold does not fit. */
export type Shortage = {
  readonly available: NanoUsd
  readonly held: NanoUsd
  /** The part of `held` that text requests hold. They end within minutes. */
  readonly heldText: NanoUsd
}

/**
 * Whether a text request that does not fit waits: it would fit if everything that runs ended and cost nothing. Jobs
 * count too, because any of them can end during the wait.
 */
export function fitsAfterAll({ available, held }: Shortage, amount: NanoUsd): boolean {
  return addUsd(available, held) >= amount
}

/**
 * Whether a text request that does not fit, also after its wait, is told to retry: it would fit if the running text
 * requests ended. They end soon. A job can run for an hour, so a request that is short because of jobs is told that the
 * money is not there, although it waited for them.
 */
export function fitsAfterText({ available, heldText }: Shortage, amount: NanoUsd): boolean {
  return addUsd(available, heldText) >= amount
}

export function placing({ kind, amount, isVolatile }: HoldTerms): readonly Movement[] {
  return isVolatile ? [] : [{ from: 'available', to: heldBook[kind], amount }]
}

/**
 * Takes the cost and frees the rest. Only text may cost more than its hold, because its input is estimated: the
 * shortfall is taken from `available`, below zero if needed. Throws a RangeError for media above its hold, and for a
 * negative cost.
 */
export function capturing(
  { kind, amount, isVolatile }: HoldTerms,
  cost: NanoUsd,
): { readonly movements: readonly Movement[]; readonly shortfall: NanoUsd } {
  if (cost < 0n) throw new RangeError(`A cost of ${cost} is negative.`)
  const shortfall = cost > amount ? subtractUsd(cost, amount) : ZERO
  if (shortfall > 0n && kind === 'media')
    throw new RangeError(`A media cost of ${cost} exceeds its hold of ${amount}.`)
  const held = heldBook[kind]
  const revenue = revenueBook[kind]
  if (isVolatile) return { movements: [{ from: 'available', to: revenue, amount: cost }], shortfall }
  const covered = subtractUsd(cost, shortfall)
  return {
    movements: [
      { from: held, to: revenue, amount: covered },
      { from: held, to: 'available', amount: nanoUsd(amount - covered) },
      { from: 'available', to: revenue, amount: shortfall },
    ],
    shortfall,
  }
}

/**
 * A text charge captures a text hold; a charge of images or a clip captures a media hold. Throws a RangeError
 * otherwise.
 */
export function requireFittingCharge(hold: HoldKind, charge: 'text' | 'images' | 'video'): void {
  if ((charge === 'text') !== (hold === 'text'))
    throw new RangeError(`A charge of the kind "${charge}" cannot capture a ${hold} hold.`)
}

/** The terms of a text hold after it expired: nothing is held, so the whole cost is shortfall. */
export const EXPIRED_TEXT_HOLD: HoldTerms = { kind: 'text', amount: ZERO, isVolatile: true }

/** Frees the whole hold, when it is released or expires. */
export function releasing({ kind, amount, isVolatile }: HoldTerms): readonly Movement[] {
  return isVolatile ? [] : [{ from: heldBook[kind], to: 'available', amount }]
}
