import { booksInconsistent, GatewayError } from '../../domain/errors.ts'
import type { Jobs } from '../ports/jobs.ts'
import type { Affected, Ledger } from '../ports/ledger.ts'
import type { AnchorKeeper } from './anchor-keeper.ts'

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
  readonly #anchor: Pick<AnchorKeeper, 'problem'>
  #isEverything = false
  #accounts: ReadonlySet<number> = new Set()
  #failedChecks = 0
  #lastCheck: BooksCheck | undefined

  constructor(anchor: Pick<AnchorKeeper, 'problem'>) {
    this.#anchor = anchor
  }

  /** Why no account may start paid work, as a sentence without details; undefined if accounts may. */
  get stop(): string | undefined {
    if (this.#anchor.problem !== undefined) return 'The books do not match their anchor.'
    if (this.#isEverything) return 'A check found a problem in the commits of the books.'
    if (this.#failedChecks >= FAILED_CHECKS_MAX) return 'The books could not be checked three times in a row.'
    return undefined
  }

  /** The number of accounts that may not start paid work because of their own books. */
  get stoppedAccounts(): number {
    return this.#accounts.size
  }

  /** The last check that ran. Undefined before the first one has ended. */
  get lastCheck(): BooksCheck | undefined {
    return this.#lastCheck
  }

  /** The error for new paid work of an account; undefined if it may start. */
  refusal(accountId: number): GatewayError | undefined {
    if (this.stop !== undefined) return booksInconsistent('gateway')
    return this.#accounts.has(accountId) ? booksInconsistent('account') : undefined
  }

  /** The result of a check. It replaces the previous result. */
  noteCheck(affected: Affected, check?: BooksCheck): void {
    this.#failedChecks = 0
    this.#lastCheck = check
    this.#isEverything = affected === 'everything'
    this.#accounts = new Set(affected === 'everything' ? [] : affected)
  }

  /** A check that could not run. The previous result stays. */
  noteFailedCheck(): void {
    this.#failedChecks += 1
  }
}

/** A check of the books, and how many problems it found that are not accepted. */
export type BooksCheck = { readonly atMs: number; readonly problems: number }

type Guards = {
  /** False while the store cannot be written. */
  readonly isWritable: () => boolean
  /** The error for all new paid work, if this build may not do any. */
  readonly refusal: () => GatewayError | undefined
  readonly guard: Pick<BooksGuard, 'refusal' | 'noteCheck' | 'noteFailedCheck'>
  readonly now: () => number
}

/**
 * A ledger that refuses new holds while its store cannot be written, because the charge of that work could not be
 * recorded, while its build is too old for its store, and while its books are known to be wrong. Each check of the
 * books reports its result to the guard.
 */
export function guardedLedger(ledger: Ledger, guards: Guards): Ledger {
  return {
    credit: request => ledger.credit(request),
    debit: request => ledger.debit(request),
    refund: request => ledger.refund(request),
    placeHold(request) {
      const refusal = holdRefusal(request.accountId, guards)
      return refusal === undefined ? ledger.placeHold(request) : Promise.reject(refusal)
    },
    captureHold: (hold, charge) => ledger.captureHold(hold, charge),
    releaseHold: (hold, atMs) => ledger.releaseHold(hold, atMs),
    renewHolds: () => ledger.renewHolds(),
    expiredHolds: limit => ledger.expiredHolds(limit),
    expireHold: (hold, atMs) => ledger.expireHold(hold, atMs),
    compensate: (attempt, atMs) => ledger.compensate(attempt, atMs),
    onFreed: listener => ledger.onFreed(listener),
    heldNow: () => ledger.heldNow(),
    balance: accountId => ledger.balance(accountId),
    statement: (accountId, page) => ledger.statement(accountId, page),
    usage: (accountId, page) => ledger.usage(accountId, page),
    losses: page => ledger.losses(page),
    usageOfDay: day => ledger.usageOfDay(day),
    findCharge: id => ledger.findCharge(id),
    refunds: (accountId, page) => ledger.refunds(accountId, page),
    usageTotals: (accountId, between) => ledger.usageTotals(accountId, between),
    usageGroups: (accountId, asked) => ledger.usageGroups(accountId, asked),
    async verify(results, onPart) {
      try {
        const verification = await ledger.verify(results, onPart)
        const problems = verification.problems.filter(({ isAccepted }) => !isAccepted).length
        guards.guard.noteCheck(verification.affected, { atMs: guards.now(), problems })
        return verification
      } catch (error) {
        guards.guard.noteFailedCheck()
        throw error
      }
    },
  }
}

/** Refuses to create jobs in the same cases. */
export function guardedJobs(jobs: Jobs, guards: Guards): Jobs {
  return {
    create(job) {
      const refusal = holdRefusal(job.accountId, guards)
      return refusal === undefined ? jobs.create(job) : Promise.reject(refusal)
    },
    findByKey: (accountId, key, atMs) => jobs.findByKey(accountId, key, atMs),
    beginSubmit: (id, atMs, inputs) => jobs.beginSubmit(id, atMs, inputs),
    accept: (id, to) => jobs.accept(id, to),
    loseSubmit: (id, to) => jobs.loseSubmit(id, to),
    complete: (id, result) => jobs.complete(id, result),
    fail: (id, failure) => jobs.fail(id, failure),
    notePoll: (id, poll) => jobs.notePoll(id, poll),
    bookLateCompletion: (id, late) => jobs.bookLateCompletion(id, late),
    endWatch: (id, end) => jobs.endWatch(id, end),
    archive: (id, atMs) => jobs.archive(id, atMs),
    find: id => jobs.find(id),
    history: id => jobs.history(id),
    list: page => jobs.list(page),
    openCounts: () => jobs.openCounts(),
    due: (work, page) => jobs.due(work, page),
    claim: (work, page, untilMs) => jobs.claim(work, page, untilMs),
    endClaim: (id, claim) => jobs.endClaim(id, claim),
  }
}

function holdRefusal(accountId: number, { isWritable, refusal, guard }: Guards): GatewayError | undefined {
  if (isWritable()) return refusal() ?? guard.refusal(accountId)
  return new GatewayError(
    'unavailable',
    'The gateway cannot record charges at the moment. Try again shortly.',
    { retryAfter: '5' },
  )
}
