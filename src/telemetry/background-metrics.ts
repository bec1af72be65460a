import { Counter, Gauge, type Registry } from 'prom-client'
import type { ReconcilerPass } from '../gateway/ports/ledger/reconcile.ts'
import { dollars } from './dollars.ts'

/** The result of one check of the ledger. */
export type LedgerCheck = {
  readonly problems: number
  readonly atMs: number
  /** When the last check of all rows ended. Undefined if none is known. */
  readonly fullAtMs: number | undefined
}

/** Metrics of background work. */
export type BackgroundMetrics = {
  readonly countLedgerCheck: (check: LedgerCheck) => void
  /** A check that another gateway on the same database made. It counts there. */
  readonly noteLedgerCheck: (check: LedgerCheck) => void
  /** A check that could not run. */
  readonly countFailedLedgerCheck: () => void
  readonly countReconcilerPass: (pass: ReconcilerPass) => void
}

export function openBackgroundMetrics(registry: Registry): BackgroundMetrics {
  const registers = [registry]
  const ledgerProblems = new Gauge({
    name: 'tollgate_ledger_problems',
    help: 'Problems that the last check of the ledger found, without accepted ones. 0 means that the ledger is correct.',
    registers,
  })
  const ledgerChecks = new Counter({
    name: 'tollgate_ledger_checks_total',
    help: 'Checks of the ledger, by result.',
    labelNames: ['result'],
    registers,
  })
  const reconciled = new Counter({
    name: 'tollgate_reconciled_total',
    help: 'Work of the reconciler, by outcome: late answers compensated, attempts closed, holds expired, and failures.',
    labelNames: ['outcome'],
    registers,
  })
  const compensatedUsd = new Counter({
    name: 'tollgate_compensated_usd_total',
    help: 'Dollars charged for late answers and given back, at the customer prices. The operator bears this cost.',
    registers,
  })
  const ledgerCheckedAt = new Gauge({
    name: 'tollgate_ledger_checked_timestamp_seconds',
    help: 'Time of the last check of the ledger.',
    registers,
  })
  const ledgerFullyCheckedAt = new Gauge({
    name: 'tollgate_ledger_fully_checked_timestamp_seconds',
    help: 'Time of the last check of all rows of the ledger.',
    registers,
  })

  const noteLedgerCheck = (check: LedgerCheck) => {
    ledgerProblems.set(check.problems)
    ledgerCheckedAt.set(check.atMs / 1000)
    if (check.fullAtMs !== undefined) ledgerFullyCheckedAt.set(check.fullAtMs / 1000)
  }
  return {
    noteLedgerCheck,
    countLedgerCheck: check => {
      noteLedgerCheck(check)
      ledgerChecks.inc({ result: check.problems === 0 ? 'sound' : 'broken' })
    },
    countFailedLedgerCheck: () => ledgerChecks.inc({ result: 'failed' }),
    countReconcilerPass: pass => {
      for (const outcome of ['compensated', 'closed', 'expired'] as const)
        reconciled.inc({ outcome }, pass[outcome])
      reconciled.inc({ outcome: 'failed' }, pass.failed + pass.jobs.failed)
      compensatedUsd.inc(dollars(pass.compensatedUsd))
    },
  }
}
