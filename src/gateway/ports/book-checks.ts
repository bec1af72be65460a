import type { Affected } from './ledger.ts'

/** The result of a check of the books, without its problems. */
export type StoredCheck = {
  /** Greater than the number of each check that began before. */
  readonly number: number
  readonly endedAtMs: number
  readonly entries: number
  readonly affected: Affected
  /** Without accepted ones. */
  readonly openProblems: number
}

/** The last check of the books that any node of a store made, for all of them. */
export interface BookChecks {
  /** The number of a check that begins now. Repeating it begins another one. */
  begin(): Promise<number>
  /**
   * Stores the result of a check that ends now. A stored result of a check that began later stays, because it may know
   * that a problem was accepted. Repeating it changes nothing.
   */
  store(check: Omit<StoredCheck, 'endedAtMs'>): Promise<void>
  /** The stored result. Undefined before any check has ended. */
  last(): Promise<StoredCheck | undefined>
  /**
   * Calls `listener` with the stored result, and with each one that any node stores until this one is closed, within
   * about a second. A result that another one soon replaces may be left out.
   */
  onStored(listener: (check: StoredCheck) => void): void
}
