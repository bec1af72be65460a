import { ZERO } from '../domain/money.ts'
import type { Attempts } from '../gateway/ports/ledger/attempts.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/nodes/leases.ts'
import type { Ledger } from '../gateway/ports/ledger/ledger.ts'
import {
  NO_JOBS,
  type JobsPass,
  type Reconcile,
  type ReconcilerPass,
} from '../gateway/ports/ledger/reconcile.ts'
import { closeLostAttempts, settleLateAnswers } from './reconcile-attempts.ts'

const LEASE = 'reconciler'
/**
 * Longer than a pass, because each of its sweeps has a time limit. If a node dies during a pass, the other nodes wait
 * this long.
 */
const LEASE_MS = 60_000

/** A few hundred milliseconds of work. The next pass continues. */
const HOLDS_MAX = 1000

const NOTHING: ReconcilerPass = {
  hasRun: false,
  compensated: 0,
  compensatedUsd: ZERO,
  closed: 0,
  expired: 0,
  jobs: NO_JOBS,
  failed: 0,
}

/**
 * Reconciles now, because the last process may have died with open work, and then every `everyMs`, one pass at a time.
 * A failed pass is reported to `onFailed`, and the next one still runs. Returns a function that stops it and waits for
 * the running pass.
 */
export function startReconciler(
  reconcile: Reconcile,
  { clock, onFailed }: { readonly clock: Clock; readonly onFailed: (error: unknown) => void },
  everyMs: number,
): () => Promise<void> {
  let isStopped = false
  let cancel = () => {}
  const pass = async () => {
    try {
      await reconcile()
    } catch (error) {
      onFailed(error)
    }
    if (isStopped) return
    cancel = clock.after(everyMs, () => {
      running = pass()
    })
  }
  let running = pass()
  return async () => {
    isStopped = true
    cancel()
    await running
  }
}

/**
 * Runs every sweep once, unless another pass is running. The lease only saves work: each sweep is safe without it. If a
 * sweep fails, the others still run, and then this rejects with the first error.
 */
export async function reconcileOnce(ports: {
  /** Runs the sweeps of media jobs. */
  readonly reconcileJobs: (onFailed: (error: unknown) => void) => Promise<JobsPass>
  readonly attempts: Attempts
  readonly ledger: Ledger
  readonly leases: Leases
  readonly clock: Clock
  /** Called with the error of each attempt that could not be settled, and of each further sweep that failed. */
  readonly onFailed: (error: unknown) => void
}): Promise<ReconcilerPass> {
  const { attempts, ledger, leases, clock, onFailed } = ports
  const lease = await leases.take(LEASE, LEASE_MS)
  if (lease === undefined) return NOTHING
  const sweeps: readonly (() => Promise<Partial<ReconcilerPass>>)[] = [
    () => settleLateAnswers(ports, clock.now(), onFailed),
    () => closeLostAttempts(attempts, clock.now()),
    () => expireHolds(ledger, clock.now()),
    async () => ({ jobs: await ports.reconcileJobs(onFailed) }),
  ]
  const pass: ReconcilerPass = { ...NOTHING, hasRun: true }
  const errors: unknown[] = []
  try {
    for (const sweep of sweeps)
      Object.assign(pass, await sweep().catch((error: unknown) => void errors.push(error)))
    if (errors.length === 0) return pass
    const [first, ...others] = errors
    for (const error of others) onFailed(error)
    throw first
  } finally {
    await lease.release()
  }
}

/** Frees holds that their owner no longer renews. Safe to run on every node at once: each hold is freed once. */
async function expireHolds(ledger: Ledger, nowMs: number): Promise<{ readonly expired: number }> {
  const holds = await ledger.expiredHolds(HOLDS_MAX)
  return { expired: holds.length === 0 ? 0 : await ledger.expireHolds(holds, nowMs) }
}
