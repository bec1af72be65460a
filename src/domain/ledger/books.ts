import { nanoUsd, ZERO, type NanoUsd } from '../money.ts'

/**
 * The books. Each customer has its own `available` and `held.*`; the house books are the other side of every movement, and
 * of these too each customer has its own part, so that the books of one customer are closed in themselves. Balances are
 * credit-positive: a customer's money is positive, `cash` and `promotions` go below zero by what was given out, and all of
 * a customer's books together are always zero.
 */
export const customerBooks = ['available', 'held.text', 'held.media'] as const
export const houseBooks = ['cash', 'promotions', 'revenue.text', 'revenue.media', 'losses'] as const
export const books = [...customerBooks, ...houseBooks] as const

export type CustomerBook = (typeof customerBooks)[number]
export type HouseBook = (typeof houseBooks)[number]
export type Book = CustomerBook | HouseBook

/** Text and media money is kept apart in accounts, holds, statements and metrics. */
export type HoldKind = 'text' | 'media'

export const heldBook = { text: 'held.text', media: 'held.media' } as const satisfies Record<HoldKind, Book>
export const revenueBook = { text: 'revenue.text', media: 'revenue.media' } as const satisfies Record<
  HoldKind,
  Book
>

/** What stands in each book of one customer. */
export type Balances = Readonly<Record<Book, NanoUsd>>

export const NO_BALANCES: Balances = {
  available: ZERO,
  'held.text': ZERO,
  'held.media': ZERO,
  cash: ZERO,
  promotions: ZERO,
  'revenue.text': ZERO,
  'revenue.media': ZERO,
  losses: ZERO,
}

/** All that a customer was ever given: paid in, granted, or made good. Equals available + held + spent. */
export function creditedIn(balances: Balances): NanoUsd {
  return nanoUsd(0n - balances.cash - balances.promotions - balances.losses)
}
