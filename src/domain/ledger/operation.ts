import type { Book } from './books.ts'

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
