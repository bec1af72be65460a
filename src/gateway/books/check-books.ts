import { isOutage } from '../../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger, Verification } from '../ports/ledger.ts'
import type { BooksGuard } from './books-guard.ts'

type CheckPorts = {
  readonly ledger: Pick<Ledger, 'verify'>
  readonly guard: Pick<BooksGuard, 'noteCheck' | 'noteFailedCheck'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Checks the books as `Ledger.verify` does, and tells the guard what was found, or that the check could not run. A
 * store that does not answer says nothing about the books, and refuses paid work by itself until it answers again.
 */
export async function checkBooks(
  { ledger, guard, clock }: CheckPorts,
  ...about: Parameters<Ledger['verify']>
): Promise<Verification> {
  try {
    const verification = await ledger.verify(...about)
    guard.noteCheck(verification, clock.now())
    return verification
  } catch (error) {
    if (!isOutage(error)) guard.noteFailedCheck()
    throw error
  }
}

/** The time until a check that could not run is repeated. */
const RETRY_MS = 60_000

/**
 * Checks the books now, and again `everyMs` after each check. Reports each result. A check that cannot run is reported
 * as failed, and repeated after a minute. Returns a function that stops it.
 */
export function checkBooksRegularly(
  ports: CheckPorts & {
    readonly clock: Clock
    readonly report: (result: Verification) => void
    readonly onFailed: (error: unknown) => void
  },
  everyMs: number,
): () => void {
  const { clock, report, onFailed } = ports
  let isStopped = false
  let cancel = () => {}
  const check = async () => {
    let nextMs = everyMs
    try {
      const result = await checkBooks(ports)
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
