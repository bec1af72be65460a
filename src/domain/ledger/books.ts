/**
 * The ledger accounts. Each customer has its own `available` and `held.*`; the house accounts are the other side of
 * every movement. Balances are credit-positive: a customer's money is positive, `cash` and `promotions` go below zero by what
 * was given out, and all of them together are always zero.
 */
export const customerBooks = ['available', 'held.text', 'held.media'] as const
export const houseBooks = ['cash', 'promotions', 'revenue.text', 'revenue.media', 'losses'] as const

export type CustomerBook = (typeof customerBooks)[number]
export type HouseBook = (typeof houseBooks)[number]
export type Book = CustomerBook | HouseBook

/** Text and media money is kept apart in accounts, holds, statements and metrics. */
export type HoldKind = 'text' | 'media'
