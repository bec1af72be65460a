import { GatewayError } from '../../domain/errors.ts'
import type { Affected } from '../ports/ledger.ts'

/**
 * Checks in a row that could not run, after which the books count as unreadable. One can fail because the machine is
 * busy.
 */
const FAILED_CHECKS_MAX = 3

/**
 * Refuses paid work while the books have a known problem: work that is recorded in wrong books may never be paid. A
 * problem in the books of one account stops that account. A problem in the commits or the anchor stops all of them, and
 * so do three checks in a row that could not run. Running work is settled, and reads continue.
 */
export class BooksGuard {
  readonly #isAnchored: () => boolean
  #isEverything = false
  #accounts: ReadonlySet<number> = new Set()
  #failedChecks = 0

  constructor(ports: {
    /** False while the books do not match their anchor. */
    readonly isAnchored: () => boolean
  }) {
    this.#isAnchored = ports.isAnchored
  }

  /** Why no account may start paid work, as a sentence without details; undefined if accounts may. */
  get stop(): string | undefined {
    if (!this.#isAnchored()) return 'The books do not match their anchor.'
    if (this.#isEverything) return 'A check found a problem in the commits of the books.'
    if (this.#failedChecks >= FAILED_CHECKS_MAX) return 'The books could not be checked three times in a row.'
    return undefined
  }

  /** The number of accounts that may not start paid work because of their own books. */
  get stoppedAccounts(): number {
    return this.#accounts.size
  }

  /** The error for new paid work of an account; undefined if it may start. */
  refusal(accountId: number): GatewayError | undefined {
    if (this.stop !== undefined) return inconsistent('of this gateway')
    return this.#accounts.has(accountId) ? inconsistent('of this account') : undefined
  }

  /** The result of a check. It replaces the previous result. */
  noteCheck(affected: Affected): void {
    this.#failedChecks = 0
    this.#isEverything = affected === 'everything'
    this.#accounts = new Set(affected === 'everything' ? [] : affected)
  }

  /** A check that could not run. The previous result stays. */
  noteFailedCheck(): void {
    this.#failedChecks += 1
  }
}

function inconsistent(whose: string): GatewayError {
  return new GatewayError(
    'books_inconsistent',
    `The books ${whose} have a problem, so no paid request is served until the operator has resolved it. Contact support and include this request id.`,
    { shouldRetry: false },
  )
}
