import { nanoUsd, ZERO, type NanoUsd } from '../money.ts'

/**
 * The books of an account. Its money is in `available` and `held.*`; the house books are the other side of every
 * movement. The house books are also kept per account, so that the books of one account always sum to zero. Balances
 * are credit-positive: a customer's money is positive, and `cash` and `promotions` are negative by the money that they
 * gave.
 */
export const customerBooks = ['available', 'held.text', 'held.media'] as const
export const houseBooks = ['cash', 'promotions', 'revenue.text', 'revenue.media', 'losses'] as const
export const books = [...customerBooks, ...houseBooks] as const

export type CustomerBook = (typeof customerBooks)[number]
export type HouseBook = (typeof houseBooks)[number]
export type Book = CustomerBook | HouseBook

/** Accounts, holds, statements and metrics keep the money of text and media apart. */
export type HoldKind = 'text' | 'media'

export const heldBook = { text: 'held.text', media: 'held.media' } as const satisfies Record<HoldKind, Book>
export const revenueBook = { text: 'revenue.text', media: 'revenue.media' } as const satisfies Record<
  HoldKind,
  Book
>

/** The balance of each book of one account. */
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

/** Everything that was credited to the account: paid in, granted or compensated. Equals available + held + spent. */
export function creditedIn(balances: Balances): NanoUsd {
  return nanoUsd(0n - balances.cash - balances.promotions - balances.losses)
}
