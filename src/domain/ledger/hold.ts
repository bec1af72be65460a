import { nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { heldBook, revenueBook, type HoldKind } from './books.ts'
import type { Movement } from './post.ts'

/**
 * Money set aside for work whose cost is not known yet. A durable hold is in the books: its money has moved from
 * `available` to `held`. A volatile one is only remembered, by the one process that can spend the account's money, and dies
 * with it; its money stays in `available`, where that process does not count it as free.
 */
export type HoldTerms = {
  readonly kind: HoldKind
  readonly amount: NanoUsd
  readonly isVolatile: boolean
}

export type HoldState = 'open' | 'captured' | 'released'

/** What may follow what. A hold is placed once and ends once; nothing leaves a final state. */
export const following = {
  open: ['captured', 'released'],
  captured: [],
  released: [],
} as const satisfies Record<HoldState, readonly HoldState[]>

/** Whether `free` (available, less what is remembered as held) covers a hold. Holding nothing needs no money. */
export function canHold(free: NanoUsd, amount: NanoUsd): boolean {
  if (amount < 0n) throw new RangeError(`A hold of ${amount} is negative.`)
  return amount === 0n || amount <= free
}

export function placing({ kind, amount, isVolatile }: HoldTerms): readonly Movement[] {
  return isVolatile ? [] : [{ from: 'available', to: heldBook[kind], amount }]
}

/**
 * Takes the cost and frees the rest. Only text may cost more than was held, because its input is estimated: the shortfall
 * comes out of `available`, below zero if need be. Throws a RangeError for media that does, and for a negative cost.
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

export function releasing({ kind, amount, isVolatile }: HoldTerms): readonly Movement[] {
  return isVolatile ? [] : [{ from: heldBook[kind], to: 'available', amount }]
}
