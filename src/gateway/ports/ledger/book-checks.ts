import type { Affected } from './ledger.ts'

/** The result of a check of the books, without its problems. */
export type StoredCheck = {
  /** Greater than the number of each check that began before. */
  readonly number: number
  /** The number of the last full check that this one knows, which is its own for a full check. 0 without any. */
  readonly fullNumber: number
  readonly endedAtMs: number
  /** When that full check ended. */
  readonly fullEndedAtMs: number
  readonly entries: number
  readonly affected: Affected
  /** Without accepted ones. */
  readonly openProblems: number
}

/** A check that begins, and the last full check with a result. */
export type BegunCheck = Pick<StoredCheck, 'number' | 'fullNumber' | 'fullEndedAtMs'> & {
  /** The number of the result that is stored as this check begins. 0 without any. */
  readonly lastNumber: number
}

type Order = Pick<StoredCheck, 'number' | 'fullNumber'>

/**
 * Whether a result replaces another one: that of the check that began later, because it may know that a problem was
 * accepted. But one of recent rows never replaces that of a full check which it does not know: this may know an earlier
 * row that was changed.
 */
export function isLater(check: Order, than: Order): boolean {
  if (check.fullNumber !== than.fullNumber) return check.fullNumber > than.fullNumber
  return check.number > than.number
}

/** The last check of the books that any node of a store made, for all of them. */
export interface BookChecks {
  /** Begins a check: its number, and what is stored. Repeating it begins another one. */
  begin(): Promise<BegunCheck>
  /**
   * Stores the result of a check that ends now, unless `isLater` says that the stored one is later. A check of recent
   * rows does not replace a result that stops an account either if that was stored since it began: a gateway of an
   * earlier version does not say that its check was a full one. False if the stored result stays. Repeating it changes
   * nothing.
   */
  store(
    check: Omit<StoredCheck, 'endedAtMs' | 'fullEndedAtMs'> & Pick<BegunCheck, 'lastNumber'>,
  ): Promise<boolean>
  /** The stored result. Undefined before any check has ended. */
  last(): Promise<StoredCheck | undefined>
  /**
   * Calls `listener` with the stored result, and with each one that any node stores until this one is closed, within
   * about a second. A result that another one soon replaces may be left out.
   */
  onStored(listener: (check: StoredCheck) => void): void
}
