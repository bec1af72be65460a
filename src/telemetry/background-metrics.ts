import { Counter, Gauge, type Registry } from 'prom-client'
import type { ReconcilerPass } from '../gateway/ports/reconcile.ts'
import { dollars } from './dollars.ts'

/** The result of one check of the books. */
export type LedgerCheck = { readonly problems: number; readonly entries: number; readonly atMs: number }

/** What the gateway does by itself, between requests. */
export type BackgroundMetrics = {
  readonly countLedgerCheck: (check: LedgerCheck) => void
  readonly countReconcilerPass: (pass: ReconcilerPass) => void
}

export function openBackgroundMetrics(registry: Registry): BackgroundMetrics {
  const registers = [registry]
  const ledgerProblems = new Gauge({
    name: 'tollgate_ledger_problems',
    help: 'Broken invariants found by the last check of the books; 0 is sound.',
    registers,
  })
  const ledgerChecks = new Counter({
    name: 'tollgate_ledger_checks_total',
    help: 'Checks of the books, by result.',
    labelNames: ['result'],
    registers,
  })
  const reconciled = new Counter({
    name: 'tollgate_reconciled_total',
    help: 'What the reconciler did: late answers compensated, attempts closed, and what failed.',
    labelNames: ['outcome'],
    registers,
  })
  const compensatedUsd = new Counter({
    name: 'tollgate_compensated_usd_total',
    help: 'Dollars charged for late answers and given back: what they cost the operator, at selling prices.',
    registers,
  })
  const ledgerCheckedAt = new Gauge({
    name: 'tollgate_ledger_checked_timestamp_seconds',
    help: 'When the books were last checked.',
    registers,
  })

  return {
    countLedgerCheck: check => {
      ledgerProblems.set(check.problems)
      ledgerChecks.inc({ result: check.problems === 0 ? 'sound' : 'broken' })
      ledgerCheckedAt.set(check.atMs / 1000)
    },
    countReconcilerPass: pass => {
      for (const outcome of ['compensated', 'closed', 'failed'] as const)
        reconciled.inc({ outcome }, pass[outcome])
      compensatedUsd.inc(dollars(pass.compensatedUsd))
    },
  }
}
