import type { Config } from '../config/config.ts'
import { HOLD_RENEW_EVERY_MS } from '../domain/ledger/hold.ts'
import { booksProblemEvent } from '../domain/webhooks/event.ts'
import { clockProblem } from '../gateway/admin/operating/clock-problem.ts'
import { openProblems } from '../gateway/books/books-guard.ts'
import type { CheckResult } from '../gateway/books/check-books.ts'
import { checkBooksRegularly } from '../gateway/books/check-books-regularly.ts'
import type { Reconcile } from '../gateway/ports/ledger/reconcile.ts'
import { repeatRegularly } from '../reconciler/repeat-regularly.ts'
import { startReconciler } from '../reconciler/reconciler.ts'
import { startTelling } from '../reconciler/tell-events.ts'
import { errorFields } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Parts } from './parts.ts'

/** The interval between two checks of the ledger. */
const CHECK_BOOKS_EVERY_MS = 3_600_000

/** `last used` of a key is at most this much behind. */
const WRITE_KEY_USES_EVERY_MS = 10_000

/** The last batch of a node that died is sealed a minute after its lane counts as silent. */
const UPKEEP_EVERY_MS = 60_000

/** The pause before the work of an upgrade is tried again after it failed, such as on a full disk. */
const UPGRADE_RETRY_MS = 60_000

/** Counts every run of the reconciler in the metrics. */
export function countedPasses({ admin }: Parts, metrics: Metrics): Reconcile {
  return async () => {
    const pass = await admin.reconcile()
    metrics.countReconcilerPass(pass)
    return pass
  }
}

/**
 * Starts the background work: checks of the ledger, renewals of holds, writes of the days on which keys were used, the
 * upkeep of a database, the end of an upgrade, the messages of webhooks, mails, events that follow from time, and the
 * reconciler. Returns a function that stops it and abandons late answers.
 */
export function startBackground(
  parts: Parts,
  { metrics, reconcile }: { readonly metrics: Metrics; readonly reconcile: Reconcile },
  { reconcileEveryMs }: Config,
): () => Promise<void> {
  const {
    admin,
    alerts,
    clock,
    log,
    text,
    webhookDeliveries,
    mailDeliveries,
    onReconcileFailed,
    finishUpgrade,
    upkeep,
  } = parts
  const { ledger, apiKeys } = admin
  const failed = (message: string) => (error: unknown) => log.error(message, errorFields(error))
  const stopChecking = startChecks(parts, metrics)
  const stopRenewing = repeatRegularly(
    () => ledger.renewHolds(),
    { clock, onFailed: failed('the holds could not be renewed') },
    HOLD_RENEW_EVERY_MS,
  )
  const stopWriting = repeatRegularly(
    () => apiKeys.writeUses(),
    { clock, onFailed: failed('the days of use of keys could not be written') },
    WRITE_KEY_USES_EVERY_MS,
  )
  const stopTelling = startTelling({
    alerts,
    failingUpstreams: () => text.circuitBreakers.failing(),
    clock,
    onFailed: failed('an event could not be recorded'),
  })
  const stopUpkeep = upkeep ? startUpkeep(upkeep, parts) : () => undefined
  const stopUpgrading = finishUpgradeOf({ finishUpgrade, clock, log })
  webhookDeliveries.start()
  mailDeliveries.start()
  const stopReconciling = startReconciler(reconcile, { clock, onFailed: onReconcileFailed }, reconcileEveryMs)
  return async () => {
    stopChecking()
    stopRenewing()
    stopWriting()
    stopTelling()
    stopUpkeep()
    stopUpgrading()
    text.lateAnswers.abandon()
    await Promise.all([stopReconciling(), webhookDeliveries.stop(), mailDeliveries.stop()])
  }
}

/**
 * Starts the checks of the ledger. Each problem is logged, counted and told to webhooks, by the node that found it.
 * Returns what stops them.
 */
function startChecks({ admin, books, clock, log }: Parts, metrics: Metrics): () => void {
  const tell = (problem: Parameters<typeof booksProblemEvent>[0]) => {
    admin.webhooks
      .report(booksProblemEvent(problem))
      .catch((error: unknown) => log.error('the event could not be recorded', errorFields(error)))
  }
  const { problem: anchorProblem } = books.anchor
  if (anchorProblem !== undefined) tell({ id: 'anchor', message: anchorProblem, atMs: clock.now() })
  books.sharedChecks?.onAdopted(({ openProblems: problems, endedAtMs }) => {
    metrics.noteLedgerCheck({ problems, atMs: endedAtMs, fullAtMs: books.guard.lastCheck?.fullAtMs })
    if (problems > 0) log.error('another process found that the books are wrong', { problems })
  })
  const checks = {
    ledger: admin.ledger,
    guard: books.guard,
    sharedChecks: books.sharedChecks,
    clock,
    report(result: CheckResult) {
      const open = openProblems(result.problems)
      const fullAtMs = books.guard.lastCheck?.fullAtMs
      metrics.countLedgerCheck({ problems: open.length, atMs: clock.now(), fullAtMs })
      if (result.unshared !== undefined)
        log.error('other gateways do not know the result of the check', errorFields(result.unshared))
      if (result.unnoted !== undefined)
        log.error(
          'the database does not note what was checked, so the next check reads more',
          errorFields(result.unnoted),
        )
      for (const { id, entryId, message } of open) {
        log.error('the books are wrong', { id, entry: entryId, problem: message })
        tell({ id, message, atMs: clock.now() })
      }
    },
    onFailed(error: unknown) {
      metrics.countFailedLedgerCheck()
      log.error('the books could not be checked', errorFields(error))
      const { stop } = books.guard
      if (stop !== undefined) tell({ id: 'stopped', message: stop, atMs: clock.now() })
    },
    onFullFailed(error: unknown) {
      metrics.countFailedLedgerCheck()
      log.error('the recent rows of the books are checked, but not all rows could be', errorFields(error))
    },
  }
  return checkBooksRegularly(checks, CHECK_BOOKS_EVERY_MS)
}

/** Does the upkeep of a database, and logs when the clock of this machine becomes wrong or right. */
function startUpkeep(
  upkeep: () => Promise<void>,
  { clock, clockOffsetMs, log }: Pick<Parts, 'clock' | 'clockOffsetMs' | 'log'>,
): () => void {
  let wasWrong = false
  const lookAtClock = () => {
    const problem = clockProblem(clockOffsetMs())
    if (problem !== undefined && !wasWrong) log.warn('the clock of this machine is wrong', { problem })
    if (problem === undefined && wasWrong) log.info('the clock of this machine is right again', {})
    wasWrong = problem !== undefined
  }
  lookAtClock()
  return repeatRegularly(
    () => {
      lookAtClock()
      return upkeep()
    },
    { clock, onFailed: error => log.error('the upkeep of the database failed', errorFields(error)) },
    UPKEEP_EVERY_MS,
  )
}

/** Finishes an upgrade of the store. Returns a function that ends its retries. */
function finishUpgradeOf({
  finishUpgrade,
  clock,
  log,
}: Pick<Parts, 'finishUpgrade' | 'clock' | 'log'>): () => void {
  let stop: () => void = () => undefined
  let isStopped = false
  const attempt = () => {
    finishUpgrade().catch((error: unknown) => {
      if (isStopped) return
      log.error('the upgrade of the books could not be finished', errorFields(error))
      stop = clock.after(UPGRADE_RETRY_MS, attempt)
    })
  }
  attempt()
  return () => {
    isStopped = true
    stop()
  }
}
