import type { Clock } from './ports/clock.ts'
import type { Ledger, Verification } from './ports/ledger.ts'

/**
 * Checks the books now, and again `everyMs` after each check. Reports each result; if a check cannot run, that is
 * reported as a problem. Returns a function that stops it.
 */
export function checkBooksRegularly(
  ports: { readonly ledger: Ledger; readonly clock: Clock },
  everyMs: number,
  report: (result: Verification) => void,
): () => void {
  let isStopped = false
  let cancel = () => {}
  const check = async () => {
    const result = await ports.ledger.verify().catch(failedToRun)
    if (isStopped) return
    report(result)
    cancel = ports.clock.after(everyMs, () => void check())
  }
  void check()
  return () => {
    isStopped = true
    cancel()
  }
}

function failedToRun(error: unknown): Verification {
  const reason = error instanceof Error ? error.message : String(error)
  return { problems: [{ entryId: null, message: `The check could not run: ${reason}` }], entries: 0 }
}
