import type { Clock } from '../ports/clock.ts'
import type { Ledger, Verification } from '../ports/ledger.ts'

/** The time until a check that could not run is repeated. */
const RETRY_MS = 60_000

/**
 * Checks the books now, and again `everyMs` after each check. Reports each result. A check that cannot run is reported
 * as failed, and repeated after a minute. Returns a function that stops it.
 */
export function checkBooksRegularly(
  ports: {
    readonly ledger: Pick<Ledger, 'verify'>
    readonly clock: Clock
    readonly report: (result: Verification) => void
    readonly onFailed: (error: unknown) => void
  },
  everyMs: number,
): () => void {
  const { ledger, clock, report, onFailed } = ports
  let isStopped = false
  let cancel = () => {}
  const check = async () => {
    let nextMs = everyMs
    try {
      const result = await ledger.verify()
      if (!isStopped) report(result)
    } catch (error) {
      nextMs = RETRY_MS
      if (!isStopped) onFailed(error)
    }
    if (!isStopped) cancel = clock.after(nextMs, () => void check())
  }
  void check()
  return () => {
    isStopped = true
    cancel()
  }
}
