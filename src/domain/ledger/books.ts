import { nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'

/**
 * The books of an account. Its money is in `available` and `held.*`; the house books are the other side of every
 * movement. The house books are also kept per account, so that the books of one account always sum to zero. Balances
 * are credit-positive: a customer's money is positive, and `cash` and `promotions` are negative by the money that they
 * gave.
 */
const customerBooks = ['available', 'held.text', 'held.media'] as const
const houseBooks = ['cash', 'promotions', 'revenue.text', 'revenue.media', 'losses'] as const
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

/** Everything that the house books gave: paid in, granted, compensated, or booked as a loss. */
export function givenIn(balances: Balances): NanoUsd {
  return nanoUsd(0n - balances.cash - balances.promotions - balances.losses)
}

/**
 * What the account spent and was credited. Both leave out its loss operations, which move nothing of the customer's
 * money. Credited equals available + held + spent.
 */
export function sumsIn(
  balances: Balances,
  bookedLosses: NanoUsd,
): { readonly spent: Readonly<Record<HoldKind, NanoUsd>>; readonly credited: NanoUsd } {
  return {
    spent: { text: balances['revenue.text'], media: subtractUsd(balances['revenue.media'], bookedLosses) },
    credited: subtractUsd(givenIn(balances), bookedLosses),
  }
}
