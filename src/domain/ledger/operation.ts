import { ZERO, type NanoUsd } from '../money.ts'
import type { Book } from './books.ts'
import type { Entry } from './post.ts'

/** The kinds of operations, and the books that each may touch. */
export const booksTouchedBy = {
  top_up: ['cash', 'available'],
  grant: ['promotions', 'available'],
  charge: ['available', 'revenue.text'],
  hold: ['available', 'held.text', 'held.media'],
  capture: ['held.text', 'held.media', 'revenue.text', 'revenue.media', 'available'],
  release: ['held.text', 'held.media', 'available'],
  expire: ['held.text', 'held.media', 'available'],
  compensation: ['losses', 'available'],
  debit: ['available', 'cash'],
  refund: ['revenue.text', 'revenue.media', 'available'],
  loss: ['losses', 'revenue.media'],
} as const satisfies Record<string, readonly Book[]>

export type OperationKind = keyof typeof booksTouchedBy

export const operationKinds = Object.keys(booksTouchedBy) as readonly OperationKind[]

/** The amount that an operation books as a loss; zero for any other kind. */
export function lossIn(kind: OperationKind, entries: readonly Entry[]): NanoUsd {
  if (kind !== 'loss') return ZERO
  return entries.find(({ book }) => book === 'revenue.media')?.amount ?? ZERO
}
