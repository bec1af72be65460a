import type { Config } from '../config/config.ts'
import { HOLD_RENEW_EVERY_MS } from '../domain/ledger/hold.ts'
import { checkBooksRegularly } from '../gateway/check-books.ts'
import type { Verification } from '../gateway/ports/ledger.ts'
import type { Reconcile } from '../gateway/ports/reconcile.ts'
import { renewHoldsRegularly } from '../gateway/renew-holds.ts'
import { startReconciler } from '../reconciler/reconciler.ts'
import { errorFields } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Parts } from './parts.ts'

/** The interval between two checks of the ledger. */
const CHECK_BOOKS_EVERY_MS = 3_600_000

/** Counts every run of the reconciler in the metrics. */
export function countedPasses({ admin }: Parts, metrics: Metrics): Reconcile {
  return async () => {
    const pass = await admin.reconcile()
    metrics.countReconcilerPass(pass)
    return pass
  }
}

/**
 * Starts the background work: checks of the ledger, renewals of holds, and the reconciler. Returns a function that
 * stops it and abandons late answers.
 */
export function startBackground(
  { admin, clock, log, text, onReconcileFailed }: Parts,
  { metrics, reconcile }: { readonly metrics: Metrics; readonly reconcile: Reconcile },
  { reconcileEveryMs }: Config,
): () => Promise<void> {
  const { ledger } = admin
  const checks = {
    ledger,
    clock,
    report(result: Verification) {
      const open = result.problems.filter(({ isAccepted }) => !isAccepted)
      metrics.countLedgerCheck({ problems: open.length, atMs: clock.now() })
      for (const { id, entryId, message } of open)
        log.error('the books are wrong', { id, entry: entryId, problem: message })
    },
    onFailed(error: unknown) {
      metrics.countFailedLedgerCheck()
      log.error('the books could not be checked', errorFields(error))
    },
  }
  const stopChecking = checkBooksRegularly(checks, CHECK_BOOKS_EVERY_MS)
  const onRenewalFailed = (error: unknown) => log.error('the holds could not be renewed', errorFields(error))
  const stopRenewing = renewHoldsRegularly({ ledger, clock, onFailed: onRenewalFailed }, HOLD_RENEW_EVERY_MS)
  const stopReconciling = startReconciler(reconcile, { clock, onFailed: onReconcileFailed }, reconcileEveryMs)
  return async () => {
    stopChecking()
    stopRenewing()
    text.lateAnswers.abandon()
    await stopReconciling()
  }
}
