import { booksInconsistent, GatewayError } from '../../domain/errors.ts'
import type { StoredCheck } from '../ports/ledger/book-checks.ts'
import type { Affected, Problem, Verification } from '../ports/ledger/ledger.ts'
import type { AnchorKeeper } from './anchor-keeper.ts'

/**
 * Checks in a row that could not run, after which the books count as unreadable. One can fail because the machine is
 * busy.
 */
const FAILED_CHECKS_MAX = 3

export type GuardPorts = {
  readonly anchor: Pick<AnchorKeeper, 'problem'>
  /** False while the store cannot be written. */
  readonly isWritable: () => boolean
  /** The error for all new paid work, if this build may not do any. */
  readonly buildRefusal: () => GatewayError | undefined
}

/**
 * Refuses paid work while it could not be recorded: while the store cannot be written or the build is too old for it.
 * Refuses it also while the books have a known problem, because work that is recorded in wrong books may never be paid.
 * A problem in the books of one account stops that account. A problem in the commits or the anchor stops all of them,
 * and so do three checks in a row that could not run. Running work is settled, and reads continue.
 */
export class BooksGuard {
  readonly #ports: GuardPorts
  #isEverything = false
  #accounts: ReadonlySet<number> = new Set()
  #failedChecks = 0
  #lastCheck: BooksCheck | undefined

  constructor(ports: GuardPorts) {
    this.#ports = ports
  }

  /** Why no account may start paid work, as a sentence without details; undefined if accounts may. */
  get stop(): string | undefined {
    if (this.#ports.anchor.problem !== undefined) return 'The books do not match their anchor.'
    if (this.#isEverything) return 'A check found a problem in the commits of the books.'
    if (this.#failedChecks >= FAILED_CHECKS_MAX) return 'The books could not be checked three times in a row.'
    return undefined
  }

  /** The number of accounts that may not start paid work because of their own books. */
  get stoppedAccounts(): number {
    return this.#accounts.size
  }

  /** The accounts that the last check stopped, or all of them. */
  get affected(): Affected {
    return this.#isEverything ? 'everything' : [...this.#accounts]
  }

  /** Whether the last check found a problem that stops an account or all of them. */
  get hasFoundProblem(): boolean {
    return this.#isEverything || this.#accounts.size > 0
  }

  /** The last check that ran. Undefined before the first one has ended. */
  get lastCheck(): BooksCheck | undefined {
    return this.#lastCheck
  }

  /** The error for new paid work of an account; undefined if it may start. */
  refusalOf(accountId: number): GatewayError | undefined {
    if (!this.#ports.isWritable()) return new GatewayError('unavailable', NOT_WRITABLE, { retryAfter: '5' })
    const ofBuild = this.#ports.buildRefusal()
    if (ofBuild !== undefined) return ofBuild
    if (this.stop !== undefined) return booksInconsistent('gateway')
    return this.#accounts.has(accountId) ? booksInconsistent('account') : undefined
  }

  /** The result of a check. It replaces the previous result. */
  noteCheck(
    { affected, problems, isRecent }: Pick<Verification, 'affected' | 'problems' | 'isRecent'>,
    atMs: number,
  ): void {
    const fullEndedAtMs = isRecent ? (this.#lastCheck?.fullAtMs ?? 0) : atMs
    const check = { affected, openProblems: openProblems(problems).length, endedAtMs: atMs, fullEndedAtMs }
    this.noteStoredCheck(check)
  }

  /** The same for a result that this or another node stored. */
  noteStoredCheck({
    affected,
    openProblems: problems,
    endedAtMs,
    fullEndedAtMs,
  }: Pick<StoredCheck, 'affected' | 'openProblems' | 'endedAtMs' | 'fullEndedAtMs'>): void {
    this.#failedChecks = 0
    const fullAtMs = fullEndedAtMs === 0 ? undefined : fullEndedAtMs
    this.#lastCheck = { atMs: endedAtMs, problems, fullAtMs }
    this.#isEverything = affected === 'everything'
    this.#accounts = new Set(affected === 'everything' ? [] : affected)
  }

  /** A check that could not run. The previous result stays. */
  noteFailedCheck(): void {
    this.#failedChecks += 1
  }
}

/** The problems that are not accepted. */
export function openProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ isAccepted }) => !isAccepted)
}

/** A check of the books, and how many problems it found that are not accepted. */
export type BooksCheck = {
  readonly atMs: number
  readonly problems: number
  /** When the last check of all rows ended. Undefined if none is known. */
  readonly fullAtMs: number | undefined
}

const NOT_WRITABLE = 'The gateway cannot record charges at the moment. Try again shortly.'
